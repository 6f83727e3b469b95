// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package reasons

import "github.com/kubectl-etcd/kubectl-etcd/policy"

var rollouts policy.ReasonList

// The reasons for what the controller does with rollouts beside the rule.
var (
	RolloutBypassed = rollouts.Add("RolloutBypassed",
		"A write that etcd-webhook did not review changed the update strategy of a StatefulSet whose rollout was held. The strategy stays as written, and the rollout is not held any more.",
		"Check that etcd-webhook answers: kubectl etcd webhook status. The next change of the template is held again.")
	RolloutWriteDenied = rollouts.Add("RolloutWriteDenied",
		"The API server or another webhook refused a step of a rollout that is held. It is retried. Until then the rollout waits.",
		"The message has the details. If it is etcd-druid's component protection, exempt etcd-webhook's service account (exemptServiceAccounts).")
)
