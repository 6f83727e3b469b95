// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// WebhookStatus is whether the installed etcd-webhook works, according to the API server and
// its replicas.
//
// +kubebuilder:object:root=true
type WebhookStatus struct {
	metav1.TypeMeta `json:",inline"`

	// Time is when it was observed, by the API server's clock.
	Time metav1.Time `json:"time"`
	// Health is Healthy, Degraded (it works, but a repair is required), Down (it does not
	// work), Unknown (too many facts are missing) or NotInstalled.
	Health string `json:"health"`
	// Problems are the problems, the worst first.
	Problems []Problem `json:"problems,omitempty"`
	// PluginVersion is the version of the plugin.
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

// Names returns the Deployment, for -o name.
func (s *WebhookStatus) Names() []string {
	if s.Program.Deployment == "" {
		return nil
	}
	return []string{"deployment/" + s.Program.Deployment}
}

// WebhookProgram is the Deployment with its replicas.
type WebhookProgram struct {
	Namespace  string `json:"namespace,omitempty"`
	Deployment string `json:"deployment,omitempty"`
	Image      string `json:"image,omitempty"`
	// Version is the version that the answering replica reports. Without an answer, it is the
	// image's tag, or its digest if there is no tag.
	Version string `json:"version,omitempty"`
	Ready   int32  `json:"ready"`
	Desired int32  `json:"desired"`
	// Leader is the pod that runs the controllers. It is empty if there is none or if it is
	// unknown.
	Leader string `json:"leader,omitempty"`
	// LeaderlessSince is since when there is no leader: the last renewal of the lease, or the
	// time from which a replica could have acquired it. It is absent if unknown.
	LeaderlessSince *metav1.Time `json:"leaderlessSince,omitempty"`
	// MissingRights are the important permissions that the program lacks.
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
	// LastExit is why its container ended last, or why it doesn't start.
	LastExit string `json:"lastExit,omitempty"`
	// Certificate is its serving certificate. It is absent if it could not be read.
	Certificate *ServingCertificate `json:"certificate,omitempty"`
	// Silence is why the certificate could not be read.
	Silence string `json:"silence,omitempty"`
}

// ServingCertificate is the certificate that a replica presents to the API server.
type ServingCertificate struct {
	Names     []string    `json:"names,omitempty"`
	Issuer    string      `json:"issuer"`
	NotBefore metav1.Time `json:"notBefore"`
	NotAfter  metav1.Time `json:"notAfter"`
	// Distrusted has the webhooks whose caBundle doesn't trust it, each with the reason.
	Distrusted []string `json:"distrusted,omitempty"`
}

// AdmissionTrial is the dry run of a pod's creation, which tests whether the API server calls
// the webhook.
type AdmissionTrial struct {
	// Asked describes the request: the pod, its namespace, and the cluster whose member it
	// imitates.
	Asked string `json:"asked,omitempty"`
	// GovernedBy is the policy that applies to the cluster whose member the pod imitates. It is
	// empty if the pod belongs to no cluster.
	GovernedBy string `json:"governedBy,omitempty"`
	// Answered is whether the webhook's answer arrived, on the returned pod or in a warning.
	Answered bool `json:"answered"`
	// Replica is the replica that answered.
	Replica string `json:"replica,omitempty"`
	// Version is the version that this replica was built from.
	Version string `json:"version,omitempty"`
	// Outcome and Reason are the webhook's decision.
	Outcome string `json:"outcome,omitempty"`
	Reason  string `json:"reason,omitempty"`
	Policy  string `json:"policy,omitempty"`
	// Added are the terms that the webhook added to the pod.
	Added []string `json:"added,omitempty"`
	// Milliseconds is how long the whole request took.
	Milliseconds int64 `json:"milliseconds,omitempty"`
	// Error is why the API server refused the pod, or why there was no dry run.
	Error string `json:"error,omitempty"`
}

// InstalledWebhook is one entry of a webhook configuration.
type InstalledWebhook struct {
	Name string `json:"name"`
	// Configuration is the object that contains it, as TYPE/NAME.
	Configuration string `json:"configuration"`
	// Resources are the requests for which it is called, as RESOURCE:OPERATION.
	Resources     []string `json:"resources"`
	FailurePolicy string   `json:"failurePolicy"`
	TimeoutSecs   int32    `json:"timeoutSeconds"`
	// ExcludedNamespaces are the namespaces that it excludes by name.
	ExcludedNamespaces []string `json:"excludedNamespaces,omitempty"`
	// ObjectSelector has the labels that an object must have. It is empty for all objects.
	ObjectSelector string `json:"objectSelector,omitempty"`
	// MatchConditions are the names of the conditions that a request must meet.
	MatchConditions []string `json:"matchConditions,omitempty"`
	// AuthorityExpiry is when the last certificate in its caBundle expires.
	AuthorityExpiry *metav1.Time `json:"authorityExpiry,omitempty"`
	// Calls are its calls according to the API server that answered. They are absent if the
	// metrics can't be read.
	Calls *WebhookCalls `json:"calls,omitempty"`
}

// WebhookCalls are the calls of one API server since its start.
type WebhookCalls struct {
	Total int64 `json:"total"`
	// Errors are calls without a usable answer.
	Errors int64 `json:"errors"`
	// FailedOpen is the number of requests that were admitted without an answer, because of
	// failurePolicy Ignore.
	FailedOpen int64 `json:"failedOpen"`
	// MeanMilliseconds is the mean duration of a call.
	MeanMilliseconds float64 `json:"meanMilliseconds,omitempty"`
}

// WebhookPolicy is a summary of an EtcdTopologyPolicy.
type WebhookPolicy struct {
	Name        string `json:"name"`
	Mode        string `json:"mode"`
	Matched     int32  `json:"matched"`
	Broken      int32  `json:"broken"`
	Unprotected int32  `json:"unprotected"`
	// Conflict is the message about other policies of the same priority. It is empty if there
	// are none.
	Conflict string `json:"conflict,omitempty"`
}

// WebhookCut is a Service whose client traffic is cut.
type WebhookCut struct {
	Namespace string `json:"namespace"`
	Service   string `json:"service"`
	// Until is the end of the cut. It is absent if the end is invalid.
	Until *metav1.Time `json:"until,omitempty"`
}
