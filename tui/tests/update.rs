//! The update function: keys, reports and time in any order.

mod support;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use fate_trail::live::{Bye, ByeReason, ClientEvent, Counts, Gap, Heartbeat, HubState, Rule, Version};
use fate_tui::{Effect, Found, Message, Mode, Report, TargetState, Theme, update};

use support::{S, WALL, attached, fleet, hello};

const THEME: Theme = Theme { color: false, ascii: false };

fn press(app: &mut fate_tui::App, code: KeyCode) -> Vec<Effect> {
    update(app, Message::Key(KeyEvent::from(code)))
}

fn events(events: Vec<ClientEvent>) -> Message {
    Message::Report(0, Report::Events(events, Counts::default()))
}

fn selected(app: &fate_tui::App) -> String {
    let rows = app.shown();
    rows[app.position(&rows)].key.1.clone()
}

#[test]
fn it_opens_on_the_worst_and_stays_there_until_told_otherwise() {
    let mut app = attached(THEME);
    let names: Vec<_> = app.shown().into_iter().map(|row| row.key.1).collect();
    assert_eq!(names[..3], ["orders/7", "archive", "a-hub-with-a-name-that-is-far-too-long/日本語/42"]);
    assert_eq!(selected(&app), "orders/7");
    press(&mut app, KeyCode::Char('j'));
    assert_eq!(selected(&app), "archive");
    // The worst one recovers; the selection does not move.
    let calm = HubState { hub: "orders/7".into(), ..HubState::default() };
    update(&mut app, events(vec![ClientEvent::State(Box::new(calm))]));
    assert_eq!(selected(&app), "archive");
    press(&mut app, KeyCode::Esc);
    assert_eq!(app.selected, None);
}

#[test]
fn next_warning_goes_round() {
    let mut app = attached(THEME);
    press(&mut app, KeyCode::Char('w'));
    assert_eq!(selected(&app), "archive");
    press(&mut app, KeyCode::Char('w'));
    assert_eq!(selected(&app), "orders/7");
}

#[test]
fn pause_freezes_what_is_shown_and_not_what_is_collected() {
    let mut app = attached(THEME);
    press(&mut app, KeyCode::Char(' '));
    app.dirty = false;
    let changed = HubState { main: 999, ..fleet()[3].clone() };
    update(&mut app, events(vec![ClientEvent::State(Box::new(changed))]));
    assert!(!app.dirty, "a still picture is not drawn again");
    let main = |world: &fate_tui::World| world.rows[&(0, "billing".to_owned())].state().main;
    assert_eq!((main(app.shown_world()), main(&app.world)), (1, 999));
    press(&mut app, KeyCode::Char(' '));
    assert_eq!(main(app.shown_world()), 999);
}

#[test]
fn a_filter_is_typed_kept_and_dropped() {
    let mut app = attached(THEME);
    for code in "/bill".chars() {
        press(&mut app, KeyCode::Char(code));
    }
    assert_eq!(app.mode, Mode::Filter);
    assert_eq!(app.shown().len(), 1);
    press(&mut app, KeyCode::Enter);
    assert_eq!((app.mode, app.filter.as_str()), (Mode::Normal, "bill"));
    press(&mut app, KeyCode::Esc);
    assert_eq!(app.shown().len(), fleet().len());
    for code in "/orders/?".chars() {
        press(&mut app, KeyCode::Char(code));
    }
    assert_eq!(selected(&app), "orders/7");
    press(&mut app, KeyCode::Backspace);
    press(&mut app, KeyCode::Esc);
    assert_eq!((app.mode, app.filter.as_str()), (Mode::Normal, ""));
}

#[test]
fn quit_works_in_every_mode() {
    for before in ["", "?", "/", " ", "/q"] {
        let mut app = attached(THEME);
        for code in before.chars() {
            press(&mut app, KeyCode::Char(code));
        }
        let control_c = KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL);
        assert_eq!(update(&mut app, Message::Key(control_c)), [Effect::Quit], "{before}");
    }
    assert_eq!(press(&mut attached(THEME), KeyCode::Char('q')), [Effect::Quit]);
    assert_eq!(update(&mut attached(THEME), Message::Stop), [Effect::Quit]);
}

#[test]
fn a_process_is_attached_once_and_again_after_it_ended() {
    let mut app = attached(THEME);
    let found = |socket: &str| Found { socket: socket.into(), ..Found::default() };
    let known = app.world.targets[0].found.clone();
    assert_eq!(update(&mut app, Message::Found(vec![known.clone(), found("/b")], None)), [Effect::Attach(1)]);
    update(&mut app, Message::Report(0, Report::Ended("gone".into())));
    assert!(app.world.rows.values().all(|row| row.gone.is_some()));
    assert_eq!(update(&mut app, Message::Found(vec![known], None)), [Effect::Attach(0)]);
}

#[test]
fn a_night_of_processes_that_come_and_go_takes_no_more_room_than_those_on_the_screen() {
    let mut app = attached(THEME);
    let mut now = app.world.now;
    for number in 0..100 {
        let found = Found { socket: format!("/{number}").into(), ..Found::default() };
        let effects = update(&mut app, Message::Found(vec![found], None));
        let [Effect::Attach(id)] = effects[..] else { panic!("{number} is attached: {effects:?}") };
        let state = HubState { hub: "short-lived".into(), ..HubState::default() };
        let hub = vec![
            ClientEvent::Attached(Box::new(hello("boot")), Version { major: 1, minor: 0 }),
            ClientEvent::Snapshot(vec![state]),
        ];
        update(&mut app, Message::Report(id, Report::Events(hub, Counts::default())));
        assert!(app.world.rows.contains_key(&(id, "short-lived".to_owned())));
        update(&mut app, Message::Report(id, Report::Ended("gone".into())));
        // Ten seconds later the next one starts; what is gone stays on the screen for a minute.
        now += 10 * S;
        update(&mut app, Message::Tick(now, WALL));
    }
    assert!(app.world.targets.len() < 10, "{} places", app.world.targets.len());
    assert!(app.world.targets[0].is_live(), "who never ended keeps its place");
}

#[test]
fn a_restarted_process_starts_over() {
    let mut app = attached(THEME);
    update(&mut app, Message::Report(0, Report::Down("lost".into())));
    assert!(app.shown().iter().all(|row| row.warnings.is_empty()), "old states raise nothing");
    update(&mut app, Message::Tick(130 * S, WALL));
    let state = HubState { hub: "orders/7".into(), main: 1, ..HubState::default() };
    let again = vec![
        ClientEvent::Attached(Box::new(hello("other-boot")), Version { major: 1, minor: 0 }),
        ClientEvent::Snapshot(vec![state]),
    ];
    update(&mut app, events(again));
    let row = &app.world.rows[&(0, "orders/7".to_owned())];
    assert_eq!((row.boot.as_str(), row.state().main, row.gone), ("other-boot", 1, None));
    assert_eq!(row.waiting.len(), 1, "no history of the other start");
    assert_eq!(app.world.targets[0].restarts, 1);
    let gone = app.world.rows.values().filter(|row| row.gone.is_some()).count();
    assert_eq!(gone, fleet().len() - 1, "the others are shown as gone …");
    update(&mut app, Message::Tick(400 * S, WALL));
    assert_eq!(app.world.rows.len(), 1, "… and forgotten in the end");
}

#[test]
fn silence_is_stale_and_lag() {
    let mut app = attached(THEME);
    assert_eq!(app.world.lag(), 0);
    update(&mut app, Message::Tick(104 * S, WALL + 4_000_000));
    assert_eq!(app.world.lag(), 3 * S);
    let rules: Vec<_> = app.shown().iter().flat_map(|row| row.warnings.clone()).map(|w| w.rule).collect();
    assert_eq!(rules.iter().filter(|&&rule| rule == Rule::Stale).count(), fleet().len());
    let beat = Heartbeat { wall_us: (WALL + 4_000_000) as u64, ..Heartbeat::default() };
    update(&mut app, events(vec![ClientEvent::Heartbeat(beat)]));
    assert_eq!(app.world.lag(), 0);
}

#[test]
fn losses_add_up_once() {
    let mut app = attached(THEME);
    let beat =
        |lost| ClientEvent::Heartbeat(Heartbeat { lost, wall_us: WALL as u64, ..Heartbeat::default() });
    update(&mut app, events(vec![ClientEvent::Gap(Gap { count: 5, ..Gap::default() })]));
    assert_eq!(app.world.lost(), 5, "at once");
    update(&mut app, events(vec![beat(5)]));
    assert_eq!(app.world.lost(), 5, "and not twice");
    update(&mut app, events(vec![beat(12)]));
    assert_eq!(app.world.lost(), 12);
}

#[test]
fn a_hub_that_refuses_is_not_asked_again() {
    let mut app = attached(THEME);
    update(&mut app, Message::Report(0, Report::GivenUp("too new".into())));
    assert_eq!(app.world.targets[0].state, TargetState::GivenUp("too new".into()));
    let known = app.world.targets[0].found.clone();
    assert!(update(&mut app, Message::Found(vec![known], None)).is_empty());
}

/// Any order of messages: nothing panics, the selection is valid, the screen can be drawn.
#[test]
fn any_order_of_messages_is_survived() {
    for seed in 0..300_u64 {
        let mut random = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        let mut draw = move |n: u64| {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            random % n
        };
        let mut app = attached(THEME);
        let mut now = 100 * S;
        for step in 0..200 {
            let keys = "jkgGwsq/? *x7";
            let message = match draw(9) {
                0 => {
                    now += draw(20 * S);
                    Message::Tick(now, WALL)
                }
                1 => events(vec![ClientEvent::Snapshot(fleet().split_off(draw(5) as usize))]),
                2 => events(vec![ClientEvent::Removed(fleet()[draw(5) as usize].hub.clone())]),
                3 => {
                    let mut state = fleet()[draw(5) as usize].clone();
                    (state.main, state.deferred, state.turns) = (draw(u64::MAX), draw(9), draw(99));
                    state.running.iter_mut().for_each(|turn| turn.age_us = draw(u64::MAX));
                    events(vec![ClientEvent::State(Box::new(state))])
                }
                4 => events(vec![
                    ClientEvent::Attached(
                        Box::new(hello(&format!("b{}", draw(3)))),
                        Version { major: 1, minor: 0 },
                    ),
                    ClientEvent::Bye(Bye {
                        boot: String::new(),
                        reason: ByeReason::Shutdown,
                        text: String::new(),
                    }),
                ]),
                5 => Message::Report(draw(3) as usize, Report::Down("x".into())),
                6 => Message::Found(
                    vec![Found { socket: format!("/{}", draw(4)).into(), ..Found::default() }],
                    None,
                ),
                _ => {
                    let at = draw(keys.len() as u64) as usize;
                    let code = [
                        KeyCode::Char(keys.as_bytes()[at] as char),
                        KeyCode::Esc,
                        KeyCode::PageDown,
                        KeyCode::Backspace,
                    ];
                    Message::Key(KeyEvent::from(code[draw(4) as usize]))
                }
            };
            update(&mut app, message);
            let rows = app.shown();
            assert!(rows.is_empty() || app.position(&rows) < rows.len(), "seed {seed}, step {step}");
        }
        let mut terminal = ratatui::Terminal::new(ratatui::backend::TestBackend::new(90, 20)).unwrap();
        terminal.draw(|frame| fate_tui::view::draw(&mut app, frame)).unwrap();
    }
}
