//! Archives: whole, broken, hostile.

use super::*;

fn one(name: &str, bytes: impl AsRef<[u8]>) -> Vec<String> {
    one_with(name, bytes, &Options::default())
}

fn one_with(name: &str, bytes: impl AsRef<[u8]>, options: &Options) -> Vec<String> {
    let dir = folder();
    write(dir.path(), name, bytes);
    shown(dir.path(), &read_with(&[dir.path()], b"", options))
}

#[test]
fn every_kind_gives_its_members() {
    let members: &[(&str, &[u8])] = &[("17/1/unit/x.log", b"x"), ("y.log", b"y")];
    for (name, bytes) in [
        ("a.tar", tar(members)),
        ("a.tar.gz", gz(&tar(members))),
        ("a.tgz", gz(&tar(members))),
        ("a.tar.zst", zst(&tar(members))),
        ("a.zip", zip(members)),
        ("no-extension", zip(members)),
    ] {
        let expected = [format!("{name}!17/1/unit/x.log = x"), format!("{name}!y.log = y")];
        assert_eq!(one(name, bytes), expected, "{name}");
    }
    assert_eq!(one("x.log.gz", gz(b"text")), ["x.log.gz = text"]);
    assert_eq!(one("x.log.zst", zst(b"text")), ["x.log.zst = text"]);
}

#[test]
fn concatenated_frames_are_one_stream() {
    let skippable = [&[0x53, 0x2a, 0x4d, 0x18, 3, 0, 0, 0], &b"abc"[..]].concat();
    assert_eq!(one("x.gz", [gz(b"one "), gz(b"two")].concat()), ["x.gz = one two"]);
    assert_eq!(
        one("x.zst", [skippable.clone(), zst(b"one "), skippable, zst(b"two")].concat()),
        ["x.zst = one two"]
    );
}

#[test]
fn members_below_path_leave_the_archive_out() {
    let dir = folder();
    write(dir.path(), "logs.tar", tar(&[("./17/1/unit/x.log", b"x")]));
    write(dir.path(), "17/2/logs.zip", zip(&[("unit/1_test.txt", b"x")]));
    let below: Vec<String> = read(&[dir.path()]).files.into_iter().map(|file| file.place.below).collect();
    assert_eq!(below, ["17/2/unit/1_test.txt", "17/1/unit/x.log"]);
    let named = read(&[&dir.path().join("logs.tar")]);
    assert_eq!(named.files[0].place.below, "17/1/unit/x.log");
    assert!(named.files[0].place.path.ends_with("/logs.tar!17/1/unit/x.log"));
}

#[test]
fn nothing_is_written_and_names_are_only_shown() {
    let dir = folder();
    let names: &[(&str, &[u8])] = &[("../../escape", b"1"), ("/abs", b"2"), ("a\x1b[31m", b"3")];
    write(dir.path(), "a.tar", tar(names));
    let gathered = read(&[dir.path()]);
    assert_eq!(
        shown(dir.path(), &gathered),
        ["a.tar!../../escape = 1", "a.tar!/abs = 2", "a.tar!a\x1b[31m = 3"]
    );
    assert_eq!(std::fs::read_dir(dir.path()).expect("listed").count(), 1);
}

#[test]
fn archives_inside_archives_are_refused() {
    let inner = tar(&[("x", b"x")]);
    let nested: &[(&str, &[u8])] =
        &[("good.log", b"g"), ("in.tar", &inner), ("in.gz", &gz(b"x")), ("in.zip", &zip(&[("x", b"x")]))];
    let expected =
        ["good.log = g", "in.tar ! nested-archive", "in.gz ! nested-archive", "in.zip ! nested-archive"];
    assert_eq!(one("a.tar", tar(nested)), expected.map(|line| format!("a.tar!{line}")));
    assert_eq!(one("a.zip", zip(nested)), expected.map(|line| format!("a.zip!{line}")));
    assert_eq!(one("a.gz", gz(&gz(b"x"))), ["a.gz ! nested-archive"]);
}

#[test]
fn empty_archives_and_members_are_said() {
    assert_eq!(one("a.zip", zip(&[])), ["a.zip ! empty-archive"]);
    assert_eq!(one("a.tar", tar(&[("x", b""), ("y", b"y")])), ["a.tar!x ! empty", "a.tar!y = y"]);
    assert_eq!(one("a.gz", gz(b"")), ["a.gz ! empty"]);
    assert_eq!(one("a.tar", b""), ["a.tar ! empty"]);
}

#[test]
fn a_name_that_lies_is_said() {
    for name in ["a.zip", "a.gz", "a.zst", "a.tar", "a.tar.gz"] {
        assert_eq!(one(name, b"plain text"), [format!("{name} ! damaged-archive")]);
    }
    assert_eq!(one("a.tar.gz", gz(b"no tar")), ["a.tar.gz ! damaged-archive"]);
}

#[test]
fn cut_archives_are_one_complaint_and_what_stands_before_counts() {
    let text = noise(200_000);
    let members: &[(&str, &[u8])] = &[("first", b"1"), ("second", &text), ("third", b"3")];
    let whole = tar(members);
    let codes = |lines: Vec<String>| -> Vec<String> {
        lines
            .into_iter()
            .map(|line| {
                line.split(" = ").next().unwrap_or_default().to_owned()
                    + if line.ends_with("damaged-archive") { " !" } else { "" }
            })
            .collect()
    };
    let in_member = &whole[..100_000];
    assert_eq!(codes(one("a.tar", in_member)), ["a.tar!first", "a.tar!second !"]);
    let packed = gz(&whole);
    assert_eq!(codes(one("a.tar.gz", &packed[..packed.len() / 2])), ["a.tar.gz!first", "a.tar.gz!second !"]);
    // This decoder gives nothing out before its window is full or the frame ends.
    let packed = zst(&whole);
    assert_eq!(codes(one("a.tar.zst", &packed[..packed.len() / 2])), ["a.tar.zst ! damaged-archive !"]);
    let header_only = &whole[..512 + 512 + 100];
    assert_eq!(one("a.tar", header_only), ["a.tar!first = 1", "a.tar ! damaged-archive"]);
    let packed = zip(members);
    assert_eq!(one("a.zip", &packed[..packed.len() / 2]), ["a.zip ! damaged-archive"]);
    let lines = one("a.gz", &gz(&text)[..50_000]);
    assert!(lines.len() == 1 && lines[0].starts_with("a.gz = ") && lines[0].ends_with("! damaged-archive"));
}

#[test]
fn a_changed_byte_is_noticed() {
    let text = noise(5_000);
    let mut packed = zip(&[("x", &text), ("y", b"y")]);
    packed[1_000] ^= 1;
    let lines = one("a.zip", &packed);
    assert!(lines[0].ends_with("! damaged-archive"), "{lines:?}");
    assert_eq!(lines[1], "a.zip!y = y", "the other members are read");
    let mut packed = gz(&text);
    packed[1_000] ^= 1;
    assert!(one("a.gz", &packed)[0].ends_with("! damaged-archive"));
}

#[test]
fn bombs_stop_at_the_ratio() {
    // How well a byte repeated packs differs between the deflate backends; 20 is far below all.
    let options = Options { ratio_free: 10_000, ratio_max: 20, ..Options::default() };
    let zeros = vec![b' '; 5_000_000];
    for (name, bytes) in
        [("a.gz", gz(&zeros)), ("a.zst", zst(&zeros)), ("a.zip", zip(&[("x", &zeros), ("y", b"y")]))]
    {
        let lines = one_with(name, bytes, &options);
        assert_eq!(lines.len(), 1, "{name}: nothing behind the bomb is read");
        assert!(lines[0].ends_with("! limit"), "{name}");
        assert!(lines[0].len() < 4_900_000, "{name} stopped before its end");
    }
    let lines = one_with("a.tar.gz", gz(&tar(&[("x", &zeros), ("y", b"y")])), &options);
    assert_eq!((lines.len(), lines[0].ends_with("! limit")), (1, true));
    // As large, but honestly so.
    let text = noise(5_000_000);
    assert!(one_with("a.gz", gz(&text), &options)[0].ends_with(char::is_lowercase));
}

#[test]
fn size_and_number_of_members_are_bounded() {
    let options =
        Options { unpacked_max: 100, entries_max: 3, archive_unpacked_max: 10_000, ..Options::default() };
    let text = noise(200);
    let lines = one_with("a.tar", tar(&[("x", &text), ("y", b"y")]), &options);
    assert!(lines[0].ends_with("! limit"), "{lines:?}");
    assert_eq!(lines[1..], ["a.tar!y = y"], "the next member is read");
    let many: &[(&str, &[u8])] = &[("1", b"1"), ("2", b"2"), ("3", b"3"), ("4", b"4")];
    assert_eq!(one_with("a.tar", tar(many), &options)[3..], ["a.tar ! limit"]);
    assert_eq!(one_with("a.zip", zip(many), &options)[3..], ["a.zip ! limit"]);
    let text = noise(90);
    let names: Vec<String> = (0..3).map(|n| n.to_string()).collect();
    let members: Vec<(&str, &[u8])> = names.iter().map(|name| (name.as_str(), &text[..])).collect();
    let tight = Options { archive_unpacked_max: 200, ..options };
    assert!(one_with("a.zip", zip(&members), &tight).last().is_some_and(|line| line.ends_with("! limit")));
    let plain = one_with("x.log", noise(200), &options);
    assert!(!plain[0].ends_with("limit"), "a plain file unpacks nothing");
}

#[test]
fn a_name_without_end_is_not_held_in_memory() {
    let long = |bytes: usize| {
        let mut builder = tar::Builder::new(Vec::new());
        let mut header = tar::Header::new_gnu();
        header.set_entry_type(tar::EntryType::GNULongName);
        header.set_path("././@LongLink").expect("a name");
        header.set_size(bytes as u64);
        header.set_cksum();
        builder.append(&header, &noise(bytes)[..]).expect("a name");
        let mut header = tar::Header::new_gnu();
        header.set_path("short").expect("a name");
        header.set_size(1);
        header.set_cksum();
        builder.append(&header, &b"x"[..]).expect("a member");
        builder.into_inner().expect("a tar")
    };
    assert_eq!(one("a.tar", long(2_000_000)), ["a.tar ! limit"]);
    assert_eq!(one("a.tar.gz", gz(&long(2_000_000))), ["a.tar.gz ! limit"]);
    let honest = one("a.tar", long(200));
    assert!(honest[0].ends_with(" = x") && honest[0].len() > 200, "{honest:?}");
}

#[test]
fn links_and_devices_in_archives_are_not_followed() {
    let mut builder = tar::Builder::new(Vec::new());
    for kind in
        [tar::EntryType::Symlink, tar::EntryType::Fifo, tar::EntryType::Char, tar::EntryType::Directory]
    {
        let mut header = tar::Header::new_gnu();
        header.set_entry_type(kind);
        header.set_size(0);
        header.set_path(format!("{kind:?}")).expect("a name");
        if kind == tar::EntryType::Symlink {
            header.set_link_name("/etc/passwd").expect("a link");
        }
        header.set_cksum();
        builder.append(&header, &b""[..]).expect("a member");
    }
    let bytes = builder.into_inner().expect("a tar");
    assert_eq!(
        one("a.tar", bytes),
        ["a.tar!Symlink ! not-a-file", "a.tar!Fifo ! not-a-file", "a.tar!Char ! not-a-file"]
    );
}

#[test]
fn a_manifest_inside_is_no_file() {
    let dir = folder();
    write(dir.path(), "a.tar", tar(&[("m/runs.ndjson", b"{}"), ("m/x.log", b"x")]));
    let gathered = read(&[dir.path()]);
    assert_eq!(shown(dir.path(), &gathered), ["a.tar!m/x.log = x"]);
    assert!(gathered.manifests[0].path.ends_with("a.tar!m/runs.ndjson"));
}
