//! The rows of the registry. Append at the end; never edit, move or remove a token.

use super::DetailKind::{GateSet, Number, Symbol};
use super::Fate::{Answered, Dropped, Failed, Handled, Refused, Shed};
use super::Scope::{Delivery, Hub};
use super::{Detail, StageId, StageSpec};

/// Builds the table and one constant for each row, so that neither can miss the other.
macro_rules! stages {
    ($(
        $token:ident $since:literal $scope:ident $fate:expr;
        [$($key:literal $kind:ident $bits:literal),*];
        $meaning:literal;
        $cause:literal;
    )*) => {
        #[allow(non_camel_case_types, clippy::upper_case_acronyms)]
        #[repr(u16)]
        enum Row { $($token),* }

        $(
            #[doc = $meaning]
            pub const $token: StageId = StageId(Row::$token as u16);
        )*

        /// Rows of the registry.
        pub(super) const REGISTRY_LEN: usize = [$(stringify!($token)),*].len();

        /// Every stage, in registry order; a [`StageId`] is an index into it.
        pub static REGISTRY: &[StageSpec] = &[$(
            StageSpec {
                token: stringify!($token),
                since: $since,
                meaning: $meaning,
                fate: $fate,
                scope: $scope,
                details: &[$(Detail { key: $key, bits: $bits, kind: $kind }),*],
                likely_cause: $cause,
            }
        ),*];
    };
}

stages! {
    AWAITING "0.1" Delivery None;
        ["type" Symbol 16, "target" Symbol 16];
        "A caller waits for the answer to this delivery; the first entry of an asked trail.";
        "the caller registered its wait and never posted";
    REGISTERED_AFTER_POST "0.1" Delivery None;
        [];
        "The wait was registered only after the post, so an early answer may have been missed.";
        "the answer came before the wait was registered";
    POST_THREW "0.1" Delivery Some(Failed);
        ["error" Symbol 16];
        "Posting itself raised an error.";
        "the sender's own post pipeline failed";
    POSTED "0.1" Delivery None;
        ["target" Symbol 16];
        "The delivery entered the post pipeline of its sender.";
        "the post pipeline swallowed it, or its hub was never reached";
    POST_PIPELINE_REJECTED "0.1" Delivery Some(Refused);
        ["reason" Symbol 16];
        "A step of the post pipeline turned it away.";
        "a rule of the sender's pipeline, such as access control";
    POST_REFUSED_SHUTTING_DOWN "0.1" Delivery Some(Refused);
        ["run_level" Symbol 16];
        "The posting hub was shutting down.";
        "posted too late: the sender was closing";
    RECEIVED "0.1" Delivery None;
        ["run_level" Symbol 16];
        "A hub took it in; one such stage for every hub crossed.";
        "it is in the intake of that hub and was never queued";
    DROPPED_SHUTTING_DOWN "0.1" Delivery Some(Dropped);
        ["run_level" Symbol 16];
        "The receiving hub was shutting down.";
        "sent too late: the receiver was closing";
    DROPPED_STORM_BREAKER "0.1" Delivery Some(Dropped);
        [];
        "The storm breaker discarded it.";
        "one sender or kind floods the hub";
    SHED_AGGREGATE "0.1" Delivery Some(Shed);
        ["depth" Number 32];
        "It was shed because the hub's backlog was too deep.";
        "the hub is slower than its senders";
    ENQUEUED "0.1" Delivery None;
        ["n" Number 64];
        "It was appended to the main queue; stamped in the critical section of the push.";
        "it waits in the main queue: look for a running turn that does not end";
    MAIN_DEPTH "0.1" Delivery None;
        ["depth" Number 20, "seq" Number 44];
        "Its 1-based position in the main queue and its arrival sequence.";
        "it waits in the main queue: look for a running turn that does not end";
    TURN_START "0.1" Delivery None;
        ["n" Number 48, "depth" Number 16];
        "It was popped for its turn and is in neither queue; depth is what was left behind it.";
        "its turn is between the queues: unpacking, routing or waiting for the gate lock";
    NOT_SUBMITTED "0.1" Delivery Some(Dropped);
        ["state" Symbol 16];
        "The turn ended early because the delivery was not in the submitted state.";
        "it was re-queued in the form an earlier turn left behind instead of as received";
    ROUTING_LOOP "0.1" Delivery Some(Failed);
        ["target" Symbol 16];
        "Routing came back to a hub that it had left.";
        "the target's address resolves in a circle";
    UNPACKED "0.1" Delivery None;
        ["type" Symbol 16, "us" Number 32];
        "The payload was deserialised; us is the cost in microseconds.";
        "routing did not return";
    UNPACK_FAILED "0.1" Delivery Some(Failed);
        ["type" Symbol 16, "reason" Symbol 16];
        "The payload could not be deserialised.";
        "the receiving hub does not know the type";
    ROUTED "0.1" Delivery None;
        ["on_target" Number 1, "state" Symbol 16];
        "The hub after the `@` decided where it goes; on_target is 1 where it is meant for this hub.";
        "it left this hub and the next one never took it in";
    ROUTING_FAILED_REPORTED "0.1" Delivery Some(Failed);
        ["error_type" Symbol 16];
        "No route; the sender was told.";
        "the target does not exist or is closing";
    ROUTING_FAILED_ALREADY_NACKED "0.1" Delivery Some(Failed);
        [];
        "No route; the sender had been told before.";
        "the target does not exist or is closing";
    GATE_BYPASS "0.1" Delivery None;
        ["reason" Symbol 16];
        "It ran while gates were closed because its kind is exempt.";
        "the handler was never entered";
    GATE_ADMITTED "0.1" Delivery None;
        ["gate" Symbol 16];
        "A closed gate let it through by its own rule.";
        "the handler was never entered";
    GATE_FAILED "0.1" Delivery Some(Failed);
        ["gates" GateSet 16];
        "A gate it waited for failed for good.";
        "the initialisation that should have opened the gate failed";
    DROPPED_GATE_STUCK "0.1" Delivery Some(Dropped);
        ["depth" Number 32];
        "The deferred queue of a gate that does not open was full.";
        "a gate never opened";
    DEFERRED "0.1" Delivery None;
        ["n" Number 48, "gates" GateSet 16];
        "Parked in the deferred queue because the named gates were closed.";
        "a gate never opened";
    DEFERRED_DEPTH "0.1" Delivery None;
        ["depth" Number 32, "behind" Number 32];
        "Its 1-based position in the deferred queue, and how many waiting turns could overtake it.";
        "a gate never opened";
    DEFERRAL_TIMED_OUT "0.1" Delivery Some(Failed);
        ["gates" GateSet 16];
        "It was answered with a timeout while it was deferred.";
        "a gate opened too late or never";
    GATE_DRAIN "0.1" Hub None;
        ["n" Number 64, "gate" Symbol 16, "deferred" Number 64, "behind" Number 64];
        "Opening the gate restored the deferred queue ahead of what was waiting.";
        "";
    DEFERRED_DRAINED "0.1" Delivery None;
        [];
        "The turn of a restored delivery came.";
        "its turn is between the queues";
    DEFERRAL_TIMEOUT_ALREADY_FIRED_DROPPED "0.1" Delivery Some(Dropped);
        [];
        "Restored after its timeout had been answered, so it was not run.";
        "a gate opened too late";
    REQUEUED_IN_ARRIVAL_ORDER "0.1" Delivery None;
        ["n" Number 48, "behind" Number 16];
        "The arrival barrier put it back behind that many older turns.";
        "the older turns ahead of it do not end";
    HANDLER_ENTER "0.1" Delivery None;
        ["n" Number 64];
        "The handler was entered; n was taken at the barrier.";
        "the handler is running, slow, or waits for something that does not come";
    HANDLER_EXIT "0.1" Delivery Some(Handled);
        ["state" Symbol 16];
        "The handler returned.";
        "";
    HANDLER_FAULT "0.1" Delivery Some(Failed);
        ["error" Symbol 16];
        "The handler failed; error is the chain of causes, outermost first.";
        "the handler's own error";
    HANDLER_COMPLETED_WITHOUT_DELIVERY "0.1" Delivery Some(Failed);
        [];
        "The handler completed and returned nothing.";
        "the handler's stream ended empty";
    HANDLER_CANCELLED "0.1" Delivery Some(Failed);
        [];
        "The handler was cancelled.";
        "the hub closed during the turn";
    NO_HANDLER_MATCHED "0.1" Delivery Some(Failed);
        ["type" Symbol 16];
        "No handler of the hub takes this type.";
        "the handler is not registered at this hub";
    NOT_PROCESSED_DISPOSING "0.1" Delivery Some(Dropped);
        ["run_level" Symbol 16];
        "Its turn came when the hub was already closing.";
        "sent too late: the hub closed before its turn";
    RESPONDED "0.1" Delivery Some(Answered);
        ["type" Symbol 16, "target" Symbol 16];
        "A reply was posted; stands on the trail of the request.";
        "the reply was lost between the responder and the requester";
    REPLY_FORWARDED_THROUGH_PARENT "0.1" Delivery None;
        [];
        "The parent hub carried the reply.";
        "look at the requester's side";
    REPLY_FORWARD_THREW "0.1" Delivery Some(Failed);
        ["error" Symbol 16];
        "Carrying the reply through the parent raised an error.";
        "the parent was closing";
    REPLY_REFUSED_SHUTTING_DOWN "0.1" Delivery Some(Refused);
        ["run_level" Symbol 16];
        "The reply was refused because its carrier was shutting down.";
        "the responder closed before its reply left";
    REPLY_REFUSED_REQUESTER_NACKED "0.1" Delivery Some(Refused);
        [];
        "The reply was refused and the requester was told.";
        "the responder closed before its reply left";
    REPLY_REFUSED_UNREPORTABLE "0.1" Delivery Some(Refused);
        [];
        "The reply was refused and nobody could be told.";
        "responder and requester were both closing";
    NACK_DELIVERED_IN_PROCESS "0.1" Delivery Some(Failed);
        [];
        "The failure was handed straight to the requester's hub.";
        "";
    FAILURE_REPORTED "0.1" Delivery Some(Failed);
        ["error_type" Symbol 16, "run_level" Symbol 16];
        "The failure was posted to the sender.";
        "";
    FAILURE_REPORT_SUPPRESSED "0.1" Delivery Some(Failed);
        ["reason" Symbol 16];
        "The failure was not reported, for the stated reason.";
        "a failure must not be answered with a failure, or the hub was closing";
    FAILURE_REPORT_THREW "0.1" Delivery Some(Failed);
        ["error" Symbol 16];
        "Reporting the failure raised an error.";
        "the sender cannot be reached any more";
    NACKED_THROUGH_PARENT "0.1" Delivery Some(Failed);
        [];
        "The parent hub carried the failure to the sender.";
        "";
    NACK_DECLINED "0.1" Delivery Some(Failed);
        ["reason" Symbol 16];
        "No carrier took the failure, for the stated reason.";
        "the sender waits for an answer that will not come";
    RESPONSE_ARRIVED_NO_SUBJECT "0.1" Delivery Some(Dropped);
        [];
        "The reply arrived where nobody waited for it.";
        "the caller gave up, or waited at another hub";
    CALLBACK_COMPLETED "0.1" Delivery Some(Answered);
        [];
        "The caller's wait ended with the reply.";
        "";
    CALLBACK_TIMED_OUT "0.1" Delivery Some(Failed);
        ["ms" Number 32];
        "The caller's wait ended with its timeout.";
        "see the stage before it";
}
