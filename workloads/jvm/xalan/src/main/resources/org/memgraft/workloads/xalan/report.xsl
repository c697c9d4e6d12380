<?xml version="1.0" encoding="UTF-8"?>
<!-- A sales report as a web page: sorting, grouping by keys, sums, modes, recursion over strings. -->
<xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform">
  <xsl:output method="html" encoding="UTF-8" indent="no"/>
  <xsl:param name="minimum" select="50"/>

  <xsl:key name="sales-by-region" match="sale" use="@region"/>
  <xsl:key name="sales-by-region-and-product" match="sale" use="concat(@region, '|', product)"/>
  <xsl:key name="product-by-code" match="catalogue/product" use="@code"/>

  <xsl:template match="/sales">
    <html>
      <head><title>Sales of <xsl:value-of select="@year"/></title></head>
      <body>
        <xsl:apply-templates select="." mode="contents"/>
        <!-- The first sale of each region stands for the region. -->
        <xsl:for-each select="sale[generate-id() = generate-id(key('sales-by-region', @region)[1])]">
          <xsl:sort select="@region"/>
          <xsl:call-template name="region"/>
        </xsl:for-each>
        <p class="total">
          <xsl:value-of select="format-number(sum(sale/amount), '#,##0.00')"/>
        </p>
      </body>
    </html>
  </xsl:template>

  <xsl:template match="sales" mode="contents">
    <ul>
      <xsl:for-each select="sale[generate-id() = generate-id(key('sales-by-region', @region)[1])]">
        <xsl:sort select="count(key('sales-by-region', @region))" data-type="number" order="descending"/>
        <xsl:sort select="@region"/>
        <li><a href="#{@region}"><xsl:value-of select="@region"/></a>
          (<xsl:value-of select="count(key('sales-by-region', @region))"/>)</li>
      </xsl:for-each>
    </ul>
  </xsl:template>

  <xsl:template name="region">
    <xsl:variable name="sales" select="key('sales-by-region', @region)"/>
    <h2 id="{@region}"><xsl:value-of select="@region"/></h2>
    <table>
      <xsl:for-each select="$sales[generate-id() =
          generate-id(key('sales-by-region-and-product', concat(@region, '|', product))[1])]">
        <xsl:sort select="key('product-by-code', product)/@name"/>
        <xsl:variable name="group" select="key('sales-by-region-and-product', concat(@region, '|', product))"/>
        <tr>
          <td><xsl:value-of select="key('product-by-code', product)/@name"/></td>
          <td><xsl:value-of select="count($group)"/></td>
          <td><xsl:value-of select="format-number(sum($group/amount), '#,##0.00')"/></td>
          <td><xsl:value-of select="format-number(sum($group/amount) div sum($sales/amount), '0.0%')"/></td>
        </tr>
      </xsl:for-each>
    </table>
    <ol>
      <xsl:apply-templates select="$sales[amount &gt;= $minimum]">
        <xsl:sort select="amount" data-type="number" order="descending"/>
        <xsl:sort select="@id" data-type="number"/>
      </xsl:apply-templates>
    </ol>
  </xsl:template>

  <xsl:template match="sale">
    <li class="row{position() mod 2}">
      <xsl:value-of select="concat(customer/@first, ' ', translate(customer/@last, 'abcdefghijklmnopqrstuvwxyz',
          'ABCDEFGHIJKLMNOPQRSTUVWXYZ'), ': ', format-number(amount, '0.00'))"/>
      <xsl:apply-templates select="note"/>
    </li>
  </xsl:template>

  <xsl:template match="sale[amount &gt; 900]" priority="2">
    <li class="large"><b><xsl:value-of select="customer/@last"/></b>
      <xsl:value-of select="amount"/>
      <xsl:apply-templates select="note"/>
    </li>
  </xsl:template>

  <xsl:template match="note">
    <em>
      <xsl:call-template name="words">
        <xsl:with-param name="rest" select="normalize-space(.)"/>
      </xsl:call-template>
    </em>
  </xsl:template>

  <!-- One span per word; those of more than five letters are marked. -->
  <xsl:template name="words">
    <xsl:param name="rest"/>
    <xsl:if test="$rest">
      <xsl:variable name="word" select="substring-before(concat($rest, ' '), ' ')"/>
      <span>
        <xsl:if test="string-length($word) &gt; 5">
          <xsl:attribute name="class">long</xsl:attribute>
        </xsl:if>
        <xsl:value-of select="$word"/>
      </span>
      <xsl:call-template name="words">
        <xsl:with-param name="rest" select="substring-after($rest, ' ')"/>
      </xsl:call-template>
    </xsl:if>
  </xsl:template>
</xsl:stylesheet>
