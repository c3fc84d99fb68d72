//! The run that this process itself is part of, as CI systems state it in environment variables.

use super::{Record, parse_time};

/// Variables of one CI system, in the order run id, attempt, job, shard, start, commit, branch.
struct System {
    /// Set where the system runs the process.
    mark: &'static str,
    run_id: &'static str,
    attempt: &'static str,
    /// The system counts attempts from here; a retry count starts at 0.
    first_attempt: u32,
    job: &'static str,
    shard: &'static str,
    started_at: &'static str,
    commit: &'static str,
    branch: &'static [&'static str],
}

/// Documented names: GitHub "Variables reference", GitLab "Predefined CI/CD variables", Buildkite
/// "Environment variables", Azure "Predefined variables", CircleCI "Built-in environment
/// variables", Jenkins "Using environment variables" with the Git plugin. `""` = has none.
const SYSTEMS: &[System] = &[
    System {
        mark: "GITHUB_ACTIONS",
        run_id: "GITHUB_RUN_ID",
        attempt: "GITHUB_RUN_ATTEMPT",
        first_attempt: 1,
        job: "GITHUB_JOB",
        shard: "",
        started_at: "",
        commit: "GITHUB_SHA",
        branch: &["GITHUB_HEAD_REF", "GITHUB_REF_NAME"],
    },
    System {
        mark: "GITLAB_CI",
        run_id: "CI_PIPELINE_ID",
        attempt: "",
        first_attempt: 1,
        job: "CI_JOB_NAME",
        shard: "CI_NODE_INDEX",
        started_at: "CI_PIPELINE_CREATED_AT",
        commit: "CI_COMMIT_SHA",
        branch: &["CI_COMMIT_REF_NAME"],
    },
    System {
        mark: "BUILDKITE",
        run_id: "BUILDKITE_BUILD_ID",
        attempt: "BUILDKITE_RETRY_COUNT",
        first_attempt: 0,
        job: "BUILDKITE_LABEL",
        shard: "BUILDKITE_PARALLEL_JOB",
        started_at: "",
        commit: "BUILDKITE_COMMIT",
        branch: &["BUILDKITE_BRANCH"],
    },
    System {
        mark: "TF_BUILD",
        run_id: "BUILD_BUILDID",
        attempt: "SYSTEM_JOBATTEMPT",
        first_attempt: 1,
        job: "SYSTEM_JOBNAME",
        shard: "SYSTEM_JOBPOSITIONINPHASE",
        started_at: "SYSTEM_PIPELINESTARTTIME",
        commit: "BUILD_SOURCEVERSION",
        branch: &["SYSTEM_PULLREQUEST_SOURCEBRANCH", "BUILD_SOURCEBRANCH"],
    },
    System {
        mark: "CIRCLECI",
        run_id: "CIRCLE_WORKFLOW_ID",
        attempt: "",
        first_attempt: 1,
        job: "CIRCLE_JOB",
        shard: "CIRCLE_NODE_INDEX",
        started_at: "",
        commit: "CIRCLE_SHA1",
        branch: &["CIRCLE_BRANCH"],
    },
    System {
        mark: "JENKINS_URL",
        run_id: "BUILD_TAG",
        attempt: "",
        first_attempt: 1,
        job: "STAGE_NAME",
        shard: "",
        started_at: "",
        commit: "GIT_COMMIT",
        branch: &["CHANGE_BRANCH", "GIT_BRANCH"],
    },
];

/// A CI run that surrounds this process.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct CiRun {
    record: Record,
}

impl CiRun {
    /// Finds the CI system among the variables that `get` gives; `None` outside CI or where the
    /// system's run id is missing.
    pub fn from_env(get: &dyn Fn(&str) -> Option<String>) -> Option<CiRun> {
        let get = |name: &str| {
            if name.is_empty() { None } else { get(name).filter(|value| !value.is_empty()) }
        };
        let system = SYSTEMS.iter().find(|system| get(system.mark).is_some())?;
        let record = Record {
            run_id: Some(get(system.run_id)?),
            attempt: get(system.attempt)
                .and_then(|text| text.parse::<u32>().ok())
                .map(|number| number.saturating_add(1 - system.first_attempt)),
            job: get(system.job),
            shard: get(system.shard),
            started_at: get(system.started_at).and_then(|text| parse_time(&text).ok()).map(|time| time.at),
            commit: get(system.commit),
            branch: system.branch.iter().find_map(|name| get(name)).map(|name| short_ref(&name)),
            conclusion: None,
        };
        Some(CiRun { record })
    }

    /// What the variables say.
    pub fn record(&self) -> &Record {
        &self.record
    }

    /// True where nothing better names another run than this one.
    pub(super) fn speaks_for(&self, known: &Record) -> bool {
        let same_run = known.run_id.is_none() || known.run_id == self.record.run_id;
        let same_attempt = known.attempt.is_none() || known.attempt == Some(self.record.attempt.unwrap_or(1));
        same_run && same_attempt
    }
}

fn short_ref(name: &str) -> String {
    name.strip_prefix("refs/heads/").unwrap_or(name).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(pairs: &[(&str, &str)]) -> Option<CiRun> {
        CiRun::from_env(&|name| {
            pairs.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn each_system_states_its_run() {
        let github = of(&[
            ("GITHUB_ACTIONS", "true"),
            ("GITHUB_RUN_ID", "17"),
            ("GITHUB_RUN_ATTEMPT", "2"),
            ("GITHUB_JOB", "unit"),
            ("GITHUB_SHA", "abc"),
            ("GITHUB_HEAD_REF", ""),
            ("GITHUB_REF_NAME", "main"),
        ])
        .expect("github");
        let record = github.record();
        assert_eq!(
            (record.run_id.as_deref(), record.attempt, record.job.as_deref()),
            (Some("17"), Some(2), Some("unit"))
        );
        assert_eq!((record.commit.as_deref(), record.branch.as_deref()), (Some("abc"), Some("main")));
        let gitlab = of(&[
            ("GITLAB_CI", "true"),
            ("CI_PIPELINE_ID", "5"),
            ("CI_PIPELINE_CREATED_AT", "2026-09-06T14:00:00Z"),
            ("CI_NODE_INDEX", "3"),
        ])
        .expect("gitlab");
        assert_eq!(
            gitlab.record().started_at.map(|time| time.to_string()).as_deref(),
            Some("2026-09-06T14:00:00Z")
        );
        assert_eq!(gitlab.record().shard.as_deref(), Some("3"));
        let buildkite =
            of(&[("BUILDKITE", "true"), ("BUILDKITE_BUILD_ID", "b"), ("BUILDKITE_RETRY_COUNT", "1")])
                .expect("buildkite");
        assert_eq!(buildkite.record().attempt, Some(2), "a retry count starts at 0");
        let azure = of(&[
            ("TF_BUILD", "True"),
            ("BUILD_BUILDID", "9"),
            ("SYSTEM_JOBATTEMPT", "1"),
            ("BUILD_SOURCEBRANCH", "refs/heads/main"),
        ])
        .expect("azure");
        assert_eq!((azure.record().attempt, azure.record().branch.as_deref()), (Some(1), Some("main")));
        let circle =
            of(&[("CIRCLECI", "true"), ("CIRCLE_WORKFLOW_ID", "w"), ("CIRCLE_JOB", "j")]).expect("circle");
        assert_eq!(circle.record().job.as_deref(), Some("j"));
        let jenkins = of(&[("JENKINS_URL", "http://j/"), ("BUILD_TAG", "jenkins-x-4"), ("GIT_COMMIT", "c")])
            .expect("jenkins");
        assert_eq!(jenkins.record().run_id.as_deref(), Some("jenkins-x-4"));
    }

    #[test]
    fn outside_ci_or_without_a_run_id_there_is_none() {
        assert_eq!(of(&[("GITHUB_RUN_ID", "17")]), None);
        assert_eq!(of(&[("GITHUB_ACTIONS", "true"), ("GITHUB_RUN_ID", "")]), None);
    }
}
