// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// WebhookStatus is whether the installed etcd-webhook works, as the API server
// and its replicas show it.
//
// +kubebuilder:object:root=true
type WebhookStatus struct {
	metav1.TypeMeta `json:",inline"`

	// Time is when it was looked at, by the API server's clock.
	Time metav1.Time `json:"time"`
	// Health is Healthy, Degraded (it answers, but something must be mended),
	// Down (it does not work), Unknown (too little may be seen) or NotInstalled.
	Health string `json:"health"`
	// Problems are what is wrong, the worst first.
	Problems []Problem `json:"problems,omitempty"`
	// PluginVersion is that of the program that looked.
	PluginVersion string `json:"pluginVersion"`

	Program   WebhookProgram     `json:"program"`
	Admission AdmissionTrial     `json:"admission"`
	Webhooks  []InstalledWebhook `json:"webhooks,omitempty"`
	Policies  []WebhookPolicy    `json:"policies,omitempty"`
	// Cuts are the Services whose client traffic is cut.
	Cuts   []WebhookCut   `json:"cuts,omitempty"`
	Events []WarningEvent `json:"events,omitempty"`
	Unseen []Unseen       `json:"unseen,omitempty"`
}

// NotInstalled is a value of WebhookStatus.Health.
const NotInstalled = "NotInstalled"

// Names implements -o name.
func (s *WebhookStatus) Names() []string {
	if s.Program.Deployment == "" {
		return nil
	}
	return []string{"deployment/" + s.Program.Deployment}
}

// WebhookProgram is the Deployment and what runs of it.
type WebhookProgram struct {
	Namespace  string `json:"namespace,omitempty"`
	Deployment string `json:"deployment,omitempty"`
	Image      string `json:"image,omitempty"`
	// Version is what the replica that answered says it is, else the image's tag, or
	// its digest where it has no tag.
	Version string `json:"version,omitempty"`
	Ready   int32  `json:"ready"`
	Desired int32  `json:"desired"`
	// Leader is the pod that runs the controllers, empty where none does or
	// none is known.
	Leader string `json:"leader,omitempty"`
	// LeaderlessSince is when the lease was last renewed where nobody leads, or from
	// when on a replica could have taken it; absent where that isn't known.
	LeaderlessSince *metav1.Time `json:"leaderlessSince,omitempty"`
	// MissingRights are those of a few that matter which the program doesn't have.
	MissingRights []string `json:"missingRights,omitempty"`

	Replicas []WebhookReplica `json:"replicas,omitempty"`
}

// WebhookReplica is one pod.
type WebhookReplica struct {
	Pod      string `json:"pod"`
	Node     string `json:"node,omitempty"`
	Zone     string `json:"zone,omitempty"`
	Ready    bool   `json:"ready"`
	Leader   bool   `json:"leader,omitempty"`
	Restarts int32  `json:"restarts,omitempty"`
	// LastExit is why its container ended the last time, or doesn't start.
	LastExit string `json:"lastExit,omitempty"`
	// Certificate is the one that it serves, absent where it wasn't asked or
	// didn't answer.
	Certificate *ServingCertificate `json:"certificate,omitempty"`
	// Silence is why no certificate was seen.
	Silence string `json:"silence,omitempty"`
}

// ServingCertificate is what a replica shows to the API server.
type ServingCertificate struct {
	Names     []string    `json:"names,omitempty"`
	Issuer    string      `json:"issuer"`
	NotBefore metav1.Time `json:"notBefore"`
	NotAfter  metav1.Time `json:"notAfter"`
	// Distrusted names the webhooks whose caBundle doesn't vouch for it, each
	// with the reason.
	Distrusted []string `json:"distrusted,omitempty"`
}

// AdmissionTrial is a pod that the API server was asked to create in a dry run,
// to see whether it calls the webhook.
type AdmissionTrial struct {
	// Asked says what was asked for: a pod, its namespace, whose member it looked like.
	Asked string `json:"asked,omitempty"`
	// GovernedBy is the policy that is enforced on the cluster whose member the pod
	// looked like, empty where it was nobody's.
	GovernedBy string `json:"governedBy,omitempty"`
	// Answered says that the webhook saw the pod and what it changed came back,
	// or that its warning did where something else then refused the pod.
	Answered bool `json:"answered"`
	// Replica is who answered.
	Replica string `json:"replica,omitempty"`
	// Version is what that replica was built from.
	Version string `json:"version,omitempty"`
	// Outcome and Reason are the webhook's decision.
	Outcome string `json:"outcome,omitempty"`
	Reason  string `json:"reason,omitempty"`
	Policy  string `json:"policy,omitempty"`
	// Added are the terms that the pod came back with, as kubectl etcd explains them.
	Added []string `json:"added,omitempty"`
	// Milliseconds is how long the whole request took.
	Milliseconds int64 `json:"milliseconds,omitempty"`
	// Error is why the API server refused the pod, or why nothing was asked.
	Error string `json:"error,omitempty"`
}

// InstalledWebhook is one entry of a webhook configuration.
type InstalledWebhook struct {
	Name string `json:"name"`
	// Configuration is the object that it stands in, as TYPE/NAME.
	Configuration string `json:"configuration"`
	// Resources are what it is called for, as RESOURCE:OPERATION.
	Resources     []string `json:"resources"`
	FailurePolicy string   `json:"failurePolicy"`
	TimeoutSecs   int32    `json:"timeoutSeconds"`
	// ExcludedNamespaces are left out by name.
	ExcludedNamespaces []string `json:"excludedNamespaces,omitempty"`
	// ObjectSelector is which labels an object must have for it, empty for any.
	ObjectSelector string `json:"objectSelector,omitempty"`
	// MatchConditions are the names of the conditions that a request must meet.
	MatchConditions []string `json:"matchConditions,omitempty"`
	// AuthorityExpiry is when the last certificate in its caBundle runs out.
	AuthorityExpiry *metav1.Time `json:"authorityExpiry,omitempty"`
	// Calls are what the API server that answered says of it; absent where its
	// metrics can't be read.
	Calls *WebhookCalls `json:"calls,omitempty"`
}

// WebhookCalls are one API server's, since it was started.
type WebhookCalls struct {
	Total int64 `json:"total"`
	// Errors are calls without a usable answer.
	Errors int64 `json:"errors"`
	// FailedOpen are requests that passed without an answer, as failurePolicy says.
	FailedOpen int64 `json:"failedOpen"`
	// MeanMilliseconds is how long a call took.
	MeanMilliseconds float64 `json:"meanMilliseconds,omitempty"`
}

// WebhookPolicy is an EtcdTopologyPolicy in short.
type WebhookPolicy struct {
	Name        string `json:"name"`
	Mode        string `json:"mode"`
	Matched     int32  `json:"matched"`
	Broken      int32  `json:"broken"`
	Unprotected int32  `json:"unprotected"`
	// Conflict is the policy's word on others of the same priority, empty for none.
	Conflict string `json:"conflict,omitempty"`
}

// WebhookCut is a Service whose client traffic is cut.
type WebhookCut struct {
	Namespace string `json:"namespace"`
	Service   string `json:"service"`
	// Until is absent where nobody can read the end.
	Until *metav1.Time `json:"until,omitempty"`
}
