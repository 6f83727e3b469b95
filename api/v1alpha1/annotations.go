// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

// Annotations that people put on the owner of an etcd cluster: the Etcd, or
// the StatefulSet where there is none.
const (
	// TopologyPolicyAnnotation with the value OptOut takes one cluster out of
	// every EtcdTopologyPolicy. Other values are ignored.
	TopologyPolicyAnnotation = "kubectl-etcd.dev/topology-policy"
	// OptOut is the value of TopologyPolicyAnnotation that means what it says.
	OptOut = "opt-out"
)

// Annotations that this project writes.
const (
	// SpreadAnnotation on a member's pod records which terms admission put
	// into it and why; the controller reads it back. Nobody else's to write.
	SpreadAnnotation = "kubectl-etcd.dev/spread"
)

// What a dry run carries that asks whether admission works.
const (
	// ProbeAnnotation on a pod that is created in a dry run asks etcd-webhook to
	// say that it saw the pod. Anywhere else it means nothing.
	ProbeAnnotation = "kubectl-etcd.dev/webhook-probe"
	// ProbeAnswerAnnotation is the answer, on the pod that comes back and in a
	// warning: replica=POD version=... outcome=... reason=... policy=...
	ProbeAnswerAnnotation = "kubectl-etcd.dev/webhook-answer"
)
