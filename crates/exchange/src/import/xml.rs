//! XML as a tree of elements, as much of it as model files use.

/// An element with its attributes and children; text between them is left out.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Element {
    pub name: String,
    pub attributes: Vec<(String, String)>,
    pub children: Vec<Element>,
}

/// Elements may nest this deep.
const MAX_DEPTH: usize = 200;

impl Element {
    /// The root element of a text; the error says what is wrong at which line.
    pub fn parse(text: &str) -> Result<Self, XmlError> {
        let mut parser = Parser { text, at: 0 };
        let mut open: Vec<Element> = Vec::new();
        loop {
            let Some(start) = parser.rest().find('<') else {
                return Err(parser.fail(if open.is_empty() {
                    "there is no element"
                } else {
                    "an element has no end"
                }));
            };
            parser.at += start + 1;
            let rest = parser.rest();
            if rest.starts_with("!--") {
                parser.skip("-->")?;
            } else if rest.starts_with('?') || rest.starts_with('!') {
                parser.skip(">")?;
            } else if rest.starts_with('/') {
                parser.skip(">")?;
                let Some(done) = open.pop() else { return Err(parser.fail("an end tag has no beginning")) };
                match open.last_mut() {
                    Some(parent) => parent.children.push(done),
                    None => return Ok(done),
                }
            } else {
                let (element, empty) = parser.tag()?;
                let depth = open.len();
                match (empty, open.last_mut()) {
                    (true, Some(parent)) => parent.children.push(element),
                    (true, None) => return Ok(element),
                    (false, _) if depth >= MAX_DEPTH => {
                        return Err(parser.fail("elements are nested too deep"));
                    }
                    (false, _) => open.push(element),
                }
            }
        }
    }

    /// The value of an attribute.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// The numbers of an attribute; `None` if it is absent or not made of numbers.
    pub fn numbers(&self, name: &str) -> Option<Vec<f64>> {
        self.get(name)?.split_whitespace().map(|word| word.parse().ok()).collect()
    }

    /// The only number of an attribute.
    pub fn number(&self, name: &str) -> Option<f64> {
        self.numbers(name)?.first().copied()
    }

    /// Three numbers of an attribute.
    pub fn vector(&self, name: &str) -> Option<[f64; 3]> {
        self.numbers(name)?.try_into().ok()
    }

    /// The children of that name.
    pub fn all<'a>(&'a self, name: &'a str) -> impl DoubleEndedIterator<Item = &'a Element> {
        self.children.iter().filter(move |child| child.name == name)
    }

    /// The first child of that name.
    pub fn child(&self, name: &str) -> Option<&Element> {
        self.children.iter().find(|child| child.name == name)
    }
}

/// Why a text is no XML.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {what}")]
pub(super) struct XmlError {
    line: usize,
    what: &'static str,
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Parser<'a> {
    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn fail(&self, what: &'static str) -> XmlError {
        let before = self.text.get(..self.at).unwrap_or(self.text);
        XmlError { line: 1 + before.matches('\n').count(), what }
    }

    fn skip(&mut self, end: &str) -> Result<(), XmlError> {
        let found = self.rest().find(end).ok_or_else(|| self.fail("a tag has no end"))?;
        self.at += found + end.len();
        Ok(())
    }

    /// A start tag after its `<`, and whether it has no content.
    fn tag(&mut self) -> Result<(Element, bool), XmlError> {
        let mut element = Element { name: self.word(), ..Element::default() };
        if element.name.is_empty() {
            return Err(self.fail("a tag has no name"));
        }
        loop {
            self.at += self.rest().len() - self.rest().trim_start().len();
            if self.rest().starts_with("/>") {
                self.at += 2;
                return Ok((element, true));
            }
            if self.rest().starts_with('>') {
                self.at += 1;
                return Ok((element, false));
            }
            let key = self.word();
            let value = self.rest().trim_start().strip_prefix('=').map(str::trim_start);
            let quote = value.and_then(|value| value.chars().next()).filter(|c| matches!(c, '"' | '\''));
            let (Some(value), Some(quote), false) = (value, quote, key.is_empty()) else {
                return Err(self.fail("an attribute has no value in quotation marks"));
            };
            let Some((inside, after)) = value[1..].split_once(quote) else {
                return Err(self.fail("a quotation mark is not closed"));
            };
            element.attributes.push((key, unescaped(inside)));
            self.at = self.text.len() - after.len();
        }
    }

    fn word(&mut self) -> String {
        let ends = |c: char| c.is_whitespace() || matches!(c, '=' | '>' | '/' | '<' | '"' | '\'');
        let rest = self.rest();
        let word = &rest[..rest.find(ends).unwrap_or(rest.len())];
        self.at += word.len();
        word.into()
    }
}

fn unescaped(text: &str) -> String {
    let known = [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&apos;", "'"), ("&amp;", "&")];
    known.iter().fold(text.to_string(), |text, (from, to)| text.replace(from, to))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trees_are_read_and_damaged_ones_refused() {
        let text =
            "<?xml version='1.0'?>\n<!-- <a> -->\n<a x=\"1 2 3\" y='&lt;'>\n<b/><b z=\"7\"><c/></b>text</a>";
        let root = Element::parse(text).unwrap();
        assert_eq!((root.vector("x"), root.get("y")), (Some([1.0, 2.0, 3.0]), Some("<")));
        assert_eq!(root.all("b").filter_map(|b| b.number("z")).collect::<Vec<_>>(), [7.0]);
        for cut in (0..text.len()).filter(|k| text.is_char_boundary(*k)) {
            assert!(Element::parse(&text[..cut]).is_err(), "{cut}");
        }
        assert_eq!(
            Element::parse("<a>\n<b x=1/></a>").unwrap_err().to_string(),
            "line 2: an attribute has no value in quotation marks"
        );
        assert!(Element::parse(&"<a>".repeat(1000)).is_err());
    }
}
