// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// ClientTrafficReport is the result of cut-client-traffic and restore-client-traffic.
//
// +kubebuilder:object:root=true
type ClientTrafficReport struct {
	metav1.TypeMeta `json:",inline"`

	// Namespace and Cluster are those of the owner, Cluster as kind/name.
	Namespace string `json:"namespace"`
	Cluster   string `json:"cluster"`
	// Cut is whether client traffic is cut now.
	Cut bool `json:"cut"`
	// Until is the end of the cut by the API server's clock. It is absent without a cut.
	Until *metav1.Time `json:"until,omitempty"`
	// RestoredBy is the program that ends the cut: etcd-webhook, or this command while it
	// runs. It has another value if no program does, and is empty without a cut.
	RestoredBy string `json:"restoredBy,omitempty"`
	// Reason is the reason that the user gave.
	Reason string `json:"reason,omitempty"`
	// Services are those that were cut or restored.
	Services []ClientService `json:"services"`
	// OpenStreams is the number of open streams of clients to all members. Clients without
	// streams may also be connected. It is absent if the streams of any member could not be
	// counted.
	OpenStreams *int `json:"openStreams,omitempty"`
	// Members has the streams of each member.
	Members []MemberStreams `json:"members,omitempty"`
}

// Values of RestoredBy.
const (
	RestoredByWebhook = "etcd-webhook"
	RestoredByCommand = "kubectl-etcd"
	RestoredByNothing = "nothing"
)

// ClientService is one Service that clients use.
type ClientService struct {
	Name string `json:"name"`
	// ReadyEndpoints is the number of ready endpoints in its EndpointSlices.
	ReadyEndpoints int `json:"readyEndpoints"`
}

// MemberStreams are the open streams of clients to one member, and their requests.
type MemberStreams struct {
	// Pod is the member's pod. For a member without a pod, it is the member's name and ID.
	Pod string `json:"pod"`
	// Error is the reason if the streams and requests could not be counted.
	Error string `json:"error,omitempty"`
	// Streams are the streams of each gRPC method.
	Streams []OpenStreams `json:"streams,omitempty"`
	// Requests are the unary requests of each gRPC method that came while they were counted.
	Requests []UnaryRequests `json:"requests,omitempty"`
}

// OpenStreams are the open streams of one gRPC method.
type OpenStreams struct {
	// Method is the service and method, such as Watch/Watch.
	Method  string `json:"method"`
	AtLeast int    `json:"atLeast"`
}

// UnaryRequests are the unary requests of one gRPC method.
type UnaryRequests struct {
	// Method is the service and method, such as KV/Put.
	Method string `json:"method"`
	// AtLeast is the number of requests that came within Seconds.
	AtLeast int `json:"atLeast"`
	Seconds int `json:"seconds"`
}
