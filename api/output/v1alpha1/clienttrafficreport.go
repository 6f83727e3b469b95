// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// ClientTrafficReport is what cut-client-traffic and restore-client-traffic left behind.
//
// +kubebuilder:object:root=true
type ClientTrafficReport struct {
	metav1.TypeMeta `json:",inline"`

	// Namespace and Cluster are the owner's, the latter as kind/name.
	Namespace string `json:"namespace"`
	Cluster   string `json:"cluster"`
	// Cut says whether client traffic is cut now.
	Cut bool `json:"cut"`
	// Until is the end of the cut by the API server's clock, absent where it is not cut.
	Until *metav1.Time `json:"until,omitempty"`
	// RestoredBy is who ends the cut: etcd-webhook, this command while it runs, or
	// nobody. Empty where it is not cut.
	RestoredBy string `json:"restoredBy,omitempty"`
	// Reason is the user's own.
	Reason string `json:"reason,omitempty"`
	// Services are those that were cut or restored.
	Services []ClientService `json:"services"`
	// OpenStreams counts the streams that clients still hold open over all members:
	// at least so many, since idle connections have none. Absent where any member's
	// could not be counted.
	OpenStreams *int `json:"openStreams,omitempty"`
	// Members are what was counted, member by member.
	Members []MemberStreams `json:"members,omitempty"`
}

// Values of RestoredBy.
const (
	RestoredByWebhook = "etcd-webhook"
	RestoredByCommand = "kubectl-etcd"
	RestoredByNothing = "nobody"
)

// ClientService is one Service that clients use.
type ClientService struct {
	Name string `json:"name"`
	// ReadyEndpoints are those that its EndpointSlices still have.
	ReadyEndpoints int `json:"readyEndpoints"`
}

// MemberStreams are the streams that clients hold open to one member.
type MemberStreams struct {
	Pod string `json:"pod"`
	// Error is why they could not be counted.
	Error string `json:"error,omitempty"`
	// Streams are those of each gRPC method.
	Streams []OpenStreams `json:"streams,omitempty"`
}

// OpenStreams are the open streams of one gRPC method.
type OpenStreams struct {
	// Method is the service and method, such as Watch/Watch.
	Method  string `json:"method"`
	AtLeast int    `json:"atLeast"`
}
