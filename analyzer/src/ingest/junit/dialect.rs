//! Which producer wrote a JUnit file, told by its content.

use crate::ingest::xml::Tag;

/// Signs seen so far. A producer is known by what only it writes; where several would fit, the
/// first sign in the file decides.
#[derive(Debug, Default)]
pub(super) struct Signs {
    found: Option<&'static str>,
    lone_root: bool,
    java_properties: bool,
    any_property: bool,
    stamped_host: bool,
    numbered: bool,
    go: bool,
    micro_times: bool,
    assertions: bool,
    reruns: bool,
}

impl Signs {
    /// The dialect as far as it is known, or `None`.
    pub(super) fn dialect(&self) -> Option<&'static str> {
        if let Some(found) = self.found {
            return Some(found);
        }
        if self.go {
            let gotestsum = self.micro_times && !self.numbered;
            return Some(if gotestsum { "gotestsum" } else { "go-junit-report" });
        }
        if self.lone_root && !self.stamped_host && (self.java_properties || self.reruns) {
            return Some("surefire");
        }
        if self.lone_root && self.stamped_host && !self.any_property && !self.numbered {
            return Some("gradle");
        }
        if self.numbered && self.stamped_host && self.java_properties {
            return Some("ant");
        }
        None
    }

    fn found(&mut self, dialect: &'static str) {
        self.found.get_or_insert(dialect);
    }

    /// Looks at `<testsuites>`.
    pub(super) fn suites(&mut self, tag: &Tag<'_>) {
        let (mut id, mut name) = (false, None);
        tag.attributes(|key, value| match key {
            "uuid" => self.found("nextest"),
            "id" => id = value.text.is_empty(),
            "name" => name = Some(value.text.into_owned()),
            _ => {}
        });
        match name.as_deref() {
            Some("") if id => self.found("playwright"),
            Some("nextest-run") => self.found("nextest"),
            Some("jest tests") => self.found("jest"),
            Some("vitest tests") => self.found("vitest"),
            Some("bun test") => self.found("bun"),
            Some("pytest tests") => self.found("pytest"),
            Some("AllTests") => self.found("gtest"),
            Some(name) if name.starts_with("xcresult:") => self.found("xcresult"),
            Some(name) if name.ends_with(".xctest") => self.found("xctest"),
            _ => {}
        }
    }

    /// Looks at `<testsuite>`; `lone` where it is the root.
    pub(super) fn suite(&mut self, tag: &Tag<'_>, lone: bool) {
        self.lone_root |= lone;
        let (mut name, mut host, mut stamp, mut id, mut package) = (None, false, false, false, None);
        tag.attributes(|key, value| match key {
            "noNamespaceSchemaLocation" if value.text.contains("surefire") => self.found("surefire"),
            "buildFile" => self.found("antunit"),
            "file" if value.text.starts_with("cypress/") => self.found("cypress"),
            "assertions" => self.assertions = true,
            "hostname" => host = true,
            "timestamp" => stamp = true,
            "id" => id = true,
            "package" => package = Some(value.text.into_owned()),
            "time" => self.micro_times |= decimals(&value.text) == 6,
            "name" => name = Some(value.text.into_owned()),
            _ => {}
        });
        self.stamped_host |= host && stamp;
        self.numbered |= id || (host && package.is_some());
        let name = name.unwrap_or_default();
        match name.as_str() {
            "test" if package.as_deref() == Some("test") => self.found("libtest"),
            "pytest" => self.found("pytest"),
            "nosetests" => self.found("nose"),
            "minitest" => self.found("minitest"),
            "rspec" => self.found("rspec"),
            "Mocha Tests" => self.found("mocha"),
            _ if name.starts_with("@setup-script:") => self.found("nextest"),
            _ if name.starts_with("Elixir.") => self.found("exunit"),
            _ if ends_with_stamp(&name) => self.found("unittest"),
            _ if name.to_ascii_lowercase().ends_with(".dll") => self.found("dotnet"),
            _ => {}
        }
    }

    /// Looks at `<property name=…>` of a suite.
    pub(super) fn property(&mut self, name: &str) {
        self.any_property = true;
        match name {
            "go.version" => self.go = true,
            "clr-version" => self.found("dotnet"),
            _ if name.starts_with("surefire.") => self.found("surefire"),
            _ if name.starts_with("ant.") => self.found("ant"),
            _ if name.starts_with("java.") || name.starts_with("sun.") => self.java_properties = true,
            _ => {}
        }
    }

    /// A test case lists its reruns in Surefire's elements.
    pub(super) fn reruns(&mut self) {
        self.reruns = true;
    }

    /// Looks at one attribute of a `<testcase>`.
    pub(super) fn case(&mut self, key: &str, value: &str) {
        match key {
            "result" if matches!(value, "completed" | "suppressed") => self.found("gtest"),
            "duration" => self.found("bazel"),
            "lineno" => self.found("minitest"),
            "class" if self.assertions => self.found("phpunit"),
            "file" if self.assertions && (value.ends_with(".php") || value.ends_with(".phpt")) => {
                self.found("phpunit");
            }
            "classname" if value.starts_with("Elixir.") => self.found("exunit"),
            _ => {}
        }
    }
}

fn decimals(text: &str) -> usize {
    text.split_once('.').map_or(0, |(_, fraction)| fraction.len())
}

/// True for `name-20230222165213`, as unittest-xml-reporting names its suites.
fn ends_with_stamp(name: &str) -> bool {
    super::split_stamp(name).is_some()
}
