// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// EtcdMemberList has the members of one etcd cluster: the entries of etcd's member list, and the
// pods that belong to none of them.
//
// +kubebuilder:object:root=true
type EtcdMemberList struct {
	metav1.TypeMeta `json:",inline"`

	Cluster ClusterIdentity `json:"cluster"`
	// ClusterID comes from etcd. It is empty if no member answered.
	ClusterID string       `json:"clusterID,omitempty"`
	Items     []EtcdMember `json:"items"`
	// Authority is the source of the list: Quorum if a quorum agrees on it, Member if it is
	// the list of a single member, and empty if none could be read.
	Authority string `json:"authority,omitempty"`
	// Disagreements are the differences between the lists of single members and this one.
	Disagreements []Disagreement `json:"disagreements,omitempty"`
	Unseen        []Unseen       `json:"unseen,omitempty"`
}

// Names returns the pods as arguments, for -o name.
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
	// ID is empty for a pod that is not a member.
	ID string `json:"id,omitempty"`
	// Name is empty until the member has started for the first time.
	Name string `json:"name,omitempty"`
	// Role is Leader, Voter or Learner. It is empty for a pod that is not a member.
	Role string `json:"role,omitempty"`
	// Started is whether the member has started at least once.
	Started    bool     `json:"started"`
	PeerURLs   []string `json:"peerURLs,omitempty"`
	ClientURLs []string `json:"clientURLs,omitempty"`
	// Note is the problem of this entry.
	Note string `json:"note,omitempty"`
}

// Disagreement is the difference of one member's own list.
type Disagreement struct {
	Pod     string `json:"pod"`
	Message string `json:"message"`
}
