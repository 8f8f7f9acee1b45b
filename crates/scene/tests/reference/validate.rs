//! A validator for the keywords of JSON Schema that the printed schema uses. A keyword that it does not know fails.

use serde_json::Value;

/// Why a value does not fit the schema; `None` where it does.
pub fn refusal(root: &Value, value: &Value) -> Option<String> {
    check(root, root, value, "").err()
}

fn check(root: &Value, schema: &Value, value: &Value, at: &str) -> Result<(), String> {
    let keywords = match schema {
        Value::Bool(true) => return Ok(()),
        Value::Bool(false) => return Err(format!("{at}: nothing is allowed here")),
        Value::Object(keywords) => keywords,
        other => panic!("{other} is no schema"),
    };
    let fits = |schema: &Value| check(root, schema, value, at).is_ok();
    let holds = |keyword: &str, holds: bool| match holds {
        true => Ok(()),
        false => Err(format!("{at}: {keyword} = {} is broken by {value}", keywords[keyword])),
    };
    for (keyword, rule) in keywords {
        let list = || rule.as_array().expect("a list");
        let number = || rule.as_f64().expect("a number");
        let compared =
            |compare: fn(&f64, &f64) -> bool| value.as_f64().is_none_or(|x| compare(&x, &number()));
        let length = value.as_array().map(|items| items.len() as f64);
        let letters = value.as_str().map(|text| text.chars().count() as f64);
        match keyword.as_str() {
            "type" => holds(keyword, is(value, rule.as_str().expect("a type")))?,
            "enum" => holds(keyword, list().contains(value))?,
            "const" => holds(keyword, rule == value)?,
            "minimum" => holds(keyword, compared(f64::ge))?,
            "maximum" => holds(keyword, compared(f64::le))?,
            "exclusiveMinimum" => holds(keyword, compared(f64::gt))?,
            "exclusiveMaximum" => holds(keyword, compared(f64::lt))?,
            "minItems" => holds(keyword, length.is_none_or(|n| n >= number()))?,
            "maxItems" => holds(keyword, length.is_none_or(|n| n <= number()))?,
            "minLength" => holds(keyword, letters.is_none_or(|n| n >= number()))?,
            "maxLength" => holds(keyword, letters.is_none_or(|n| n <= number()))?,
            "anyOf" => holds(keyword, list().iter().any(fits))?,
            "oneOf" => holds(keyword, list().iter().filter(|s| fits(s)).count() == 1)?,
            "allOf" => list().iter().try_for_each(|schema| check(root, schema, value, at))?,
            "not" => holds(keyword, !fits(rule))?,
            "if" if fits(rule) => check(root, &keywords["then"], value, at)?,
            "if" | "then" => {}
            "required" => {
                let present = |key: &Value| value.get(key.as_str().expect("a key")).is_some();
                holds(keyword, !value.is_object() || list().iter().all(present))?;
            }
            "properties" => {
                for (key, schema) in rule.as_object().expect("properties") {
                    if let Some(inner) = value.get(key) {
                        check(root, schema, inner, &format!("{at}.{key}"))?;
                    }
                }
            }
            "additionalProperties" => {
                assert_eq!(rule, false, "the only value that is printed");
                let unknown = value.as_object().into_iter().flatten();
                for (key, _) in unknown {
                    holds(keyword, keywords["properties"].get(key).is_some())?;
                }
            }
            "items" => {
                for (i, item) in value.as_array().into_iter().flatten().enumerate() {
                    check(root, rule, item, &format!("{at}[{i}]"))?;
                }
            }
            "$ref" => {
                let name = rule.as_str().and_then(|r| r.strip_prefix("#/$defs/")).expect("a definition");
                check(root, root["$defs"].get(name).expect("it is there"), value, at)?;
            }
            "$schema" | "$defs" | "title" | "description" | "default" => {}
            "x-unit" | "x-variables" | "x-taplo" => {}
            other => panic!("the keyword {other} is not known"),
        }
    }
    Ok(())
}

fn is(value: &Value, kind: &str) -> bool {
    match kind {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "number" => value.is_number(),
        "integer" => value.as_f64().is_some_and(|x| x.fract() == 0.0),
        other => panic!("no type {other}"),
    }
}
