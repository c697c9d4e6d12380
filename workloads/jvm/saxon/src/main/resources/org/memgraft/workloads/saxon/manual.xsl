<?xml version="1.0" encoding="UTF-8"?>
<!-- A manual as a web page: numbers of sections, references by keys, an index by grouping, code by regular expressions. -->
<xsl:stylesheet version="3.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform"
                xmlns:xs="http://www.w3.org/2001/XMLSchema" xmlns:m="https://memgraft.org/manual"
                exclude-result-prefixes="xs m" expand-text="yes">
  <xsl:output method="html" encoding="UTF-8" indent="no"/>

  <xsl:key name="by-id" match="chapter | section" use="@id"/>

  <xsl:function name="m:number" as="xs:string">
    <xsl:param name="part" as="element()"/>
    <xsl:number select="$part" level="multiple" count="chapter | section" format="1.1"/>
  </xsl:function>

  <xsl:function name="m:words" as="xs:integer">
    <xsl:param name="part" as="element()"/>
    <xsl:sequence select="count(tokenize(normalize-space(string-join($part//p, ' ')), ' '))"/>
  </xsl:function>

  <xsl:template match="/manual">
    <html>
      <head><title>{@title}</title></head>
      <body>
        <ol class="contents">
          <xsl:apply-templates select="chapter" mode="contents"/>
        </ol>
        <xsl:apply-templates select="chapter"/>
        <xsl:call-template name="changes"/>
        <xsl:call-template name="index"/>
      </body>
    </html>
  </xsl:template>

  <xsl:template match="chapter | section" mode="contents">
    <li><a href="#{@id}">{m:number(.)} {@title}</a> ({m:words(.)} words)
      <xsl:where-populated>
        <ol><xsl:apply-templates select="section" mode="contents"/></ol>
      </xsl:where-populated>
    </li>
  </xsl:template>

  <xsl:template match="chapter | section">
    <div id="{@id}">
      <xsl:element name="h{count(ancestor-or-self::*)}">{m:number(.)} {upper-case(substring(@title, 1, 1))}{
        substring(@title, 2)}</xsl:element>
      <xsl:apply-templates select="*"/>
    </div>
  </xsl:template>

  <xsl:template match="p">
    <p><xsl:apply-templates/></p>
  </xsl:template>

  <xsl:template match="term">
    <i class="{replace(., '[^a-z]', '')}">{.}</i>
  </xsl:template>

  <xsl:template match="ref">
    <xsl:variable name="part" select="key('by-id', @to)"/>
    <a href="#{@to}">{m:number($part)}, {$part/@title}</a>
  </xsl:template>

  <xsl:template match="code">
    <pre>
      <xsl:analyze-string select="." regex="(for|int)|([0-9]+)|(&quot;[^&quot;]*&quot;)">
        <xsl:matching-substring>
          <span class="{if (regex-group(1)) then 'keyword' else if (regex-group(2)) then 'number' else 'string'}">{
            .}</span>
        </xsl:matching-substring>
        <xsl:non-matching-substring>{.}</xsl:non-matching-substring>
      </xsl:analyze-string>
    </pre>
  </xsl:template>

  <!-- The newest first, and how many days each is older than the one before. -->
  <xsl:template name="changes">
    <table>
      <xsl:iterate select="sort(//section, (), function($part) { $part/@changed || $part/@id }) => reverse()">
        <xsl:param name="newer" as="xs:date?" select="()"/>
        <xsl:variable name="changed" select="xs:date(@changed)"/>
        <tr>
          <td>{format-date($changed, '[D1] [MNn] [Y0001]', 'en', (), ())}</td>
          <td>{days-from-duration($newer - $changed)}</td>
          <td>{m:number(.)}</td>
        </tr>
        <xsl:next-iteration>
          <xsl:with-param name="newer" select="$changed"/>
        </xsl:next-iteration>
      </xsl:iterate>
    </table>
  </xsl:template>

  <xsl:template name="index">
    <xsl:for-each-group select="//term" group-by="upper-case(substring(., 1, 1))">
      <xsl:sort select="current-grouping-key()"/>
      <h4>{current-grouping-key()}</h4>
      <xsl:for-each-group select="current-group()" group-by="string(.)">
        <xsl:sort select="count(current-group())" order="descending"/>
        <xsl:sort select="current-grouping-key()"/>
        <p>{current-grouping-key()}: {distinct-values(current-group()/ancestor::section[1]/m:number(.))}</p>
      </xsl:for-each-group>
    </xsl:for-each-group>
  </xsl:template>
</xsl:stylesheet>
