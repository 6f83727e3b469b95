// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package cures

// Scenarios returns the rows of docs/rules/recovery.md, each with the function of package e2e that makes its state on a
// cluster and has diagnose show it.
func Scenarios() map[string]string {
	out := map[string]string{
		"X-2": "TestPluginSplitBrain", "X-18": "TestPluginBeganAgain", "I-11": "TestPluginBeganAgain", "X-19": "noSpace",
	}
	for name, ids := range map[string][]string{
		"TestDiagnose":              {"S-1", "S-13", "X-1", "X-11", "X-12", "X-14", "X-16", "I-3"},
		"diagnosesMembers":          {"X-8", "X-20", "I-9"},
		"diagnosesOperations":       {"X-6", "X-10"},
		"TestDiagnoseLoss":          {"S-9", "S-10", "X-3", "X-7", "I-6", "I-7", "I-8"},
		"TestDiagnoseWiped":         {"I-4", "I-5", "I-10"},
		"TestDiagnoseUnready":       {"X-13"},
		"TestDiagnoseNew":           {"X-4", "X-5", "I-1", "I-2"},
		"TestDiagnoseDruid":         {"S-2", "S-3", "S-4", "S-5", "S-6", "S-7", "S-8", "X-15"},
		"TestDiagnoseDruidReplicas": {"S-11", "X-17"},
	} {
		for _, id := range ids {
			out[id] = name
		}
	}
	return out
}

// Unmade returns the rows whose state no test makes, with the reason.
func Unmade() map[string]string {
	return map[string]string{
		"X-9":  "the commands that add a learner also promote or remove it, and the state that an interrupted one leaves is X-6 or X-10",
		"X-21": "a healthy Etcd with a changed spec and the annotation is X-21, and its evidence is the two, which the tests of policy/recovery try",
		"S-12": "the API of etcd-druid refuses fewer replicas, and other controllers delete the pod of a member before etcd has fewer members",
	}
}
