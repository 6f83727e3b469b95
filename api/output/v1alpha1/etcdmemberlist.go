// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// EtcdMemberList is the members of one etcd cluster: the entries of etcd's own
// list, and the pods that none of them belongs to.
//
// +kubebuilder:object:root=true
type EtcdMemberList struct {
	metav1.TypeMeta `json:",inline"`

	Cluster ClusterIdentity `json:"cluster"`
	// ClusterID is etcd's, empty where no member told.
	ClusterID string       `json:"clusterID,omitempty"`
	Items     []EtcdMember `json:"items"`
	// Authority says where the list comes from: Quorum for what a quorum agrees
	// on, Member for what a single member knows, empty where none could be read.
	Authority string `json:"authority,omitempty"`
	// Disagreements say how the lists of single members differ from this one.
	Disagreements []Disagreement `json:"disagreements,omitempty"`
	Unseen        []Unseen       `json:"unseen,omitempty"`
}

// Names implements -o name: the pods, which other commands take as arguments.
func (l *EtcdMemberList) Names() []string {
	var names []string
	for i := range l.Items {
		if pod := l.Items[i].Pod; pod != "" {
			names = append(names, "pod/"+pod)
		}
	}
	return names
}

// The authorities of a member list.
const (
	AuthorityQuorum = "Quorum"
	AuthorityMember = "Member"
)

// EtcdMember is one entry.
type EtcdMember struct {
	// Pod is empty for a member that no pod runs.
	Pod string `json:"pod,omitempty"`
	// ID is empty for a pod that is no member.
	ID string `json:"id,omitempty"`
	// Name is empty until the member has started for the first time.
	Name string `json:"name,omitempty"`
	// Role is Leader, Voter or Learner; empty for a pod that is no member.
	Role string `json:"role,omitempty"`
	// Started says that the member has made itself known to the cluster once.
	Started    bool     `json:"started"`
	PeerURLs   []string `json:"peerURLs,omitempty"`
	ClientURLs []string `json:"clientURLs,omitempty"`
	// Note says what is odd about it.
	Note string `json:"note,omitempty"`
}

// Disagreement is how one member's own list differs.
type Disagreement struct {
	Pod     string `json:"pod"`
	Message string `json:"message"`
}
