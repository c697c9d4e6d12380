-- A small wholesale company, after the tables of TPC-C (tpc.org/tpcc): districts sell items to their customers.
CREATE TABLE item(
  id INT PRIMARY KEY,
  name VARCHAR(40) NOT NULL,
  price DECIMAL(8, 2) NOT NULL
);
CREATE TABLE stock(
  item INT PRIMARY KEY REFERENCES item(id),
  quantity INT NOT NULL,
  ordered INT NOT NULL
);
CREATE TABLE district(
  id INT PRIMARY KEY,
  name VARCHAR(40) NOT NULL,
  received DECIMAL(14, 2) NOT NULL,
  next_order INT NOT NULL
);
CREATE TABLE customer(
  id INT PRIMARY KEY,
  district INT NOT NULL REFERENCES district(id),
  last_name VARCHAR(40) NOT NULL,
  notes VARCHAR(200) NOT NULL,
  balance DECIMAL(14, 2) NOT NULL,
  payments INT NOT NULL
);
CREATE INDEX customer_by_name ON customer(district, last_name);
CREATE TABLE orders(
  district INT NOT NULL,
  number INT NOT NULL,
  customer INT NOT NULL,
  total DECIMAL(14, 2) NOT NULL,
  PRIMARY KEY(district, number)
);
CREATE INDEX orders_by_customer ON orders(customer);
CREATE TABLE order_line(
  district INT NOT NULL,
  number INT NOT NULL,
  line INT NOT NULL,
  item INT NOT NULL,
  quantity INT NOT NULL,
  amount DECIMAL(14, 2) NOT NULL,
  PRIMARY KEY(district, number, line)
);
CREATE TABLE payment(
  id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  customer INT NOT NULL,
  district INT NOT NULL,
  amount DECIMAL(14, 2) NOT NULL
);
