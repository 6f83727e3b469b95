// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package restore

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf"
	"github.com/kubectl-etcd/kubectl-etcd/internal/format"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// Origin is the cluster that the record of a snapshot names. It is the zero value without a record.
type Origin struct {
	Kind, Namespace, Name string
	// UID is that of the object, and ClusterID is etcd's. Either may be empty.
	UID, ClusterID string
	// Taken is when the snapshot was taken, by the clock of the machine that took it.
	Taken time.Time
}

// clockSlack is how much clocks may differ between the machine that took a snapshot and the API server.
const clockSlack = time.Hour

// other returns the other cluster that a snapshot is known to be of, empty if nothing proves that. Members that
// bootstrap from the same flags compute the same cluster ID, also in another Kubernetes cluster. The UID of the object
// is unique, but an object that is created again has a new one.
func (r Plan) other() string {
	o := r.Origin
	switch {
	case o.Name == "" || r.Saved:
		return ""
	case o.Namespace != r.Owner.Namespace || o.Name != r.Owner.Name:
		return format.PrintableLine(fmt.Sprintf("%s %s/%s (cluster ID %s)", o.Kind, o.Namespace, o.Name, o.ClusterID))
	case r.otherObject() && (r.otherID() || r.takenSince()):
		return format.PrintableLine(fmt.Sprintf("%s %s/%s (cluster ID %s, UID %s)", o.Kind, o.Namespace, o.Name, o.ClusterID, o.UID))
	}
	return ""
}

// otherObject reports whether the record names another object of the same name.
func (r Plan) otherObject() bool {
	return r.Origin.UID != "" && r.Owner.UID != "" && r.Origin.Kind == r.Owner.Kind && r.Origin.UID != string(r.Owner.UID)
}

// otherID reports whether the members have another cluster ID than the record. Nothing is known without members that
// answer.
func (r Plan) otherID() bool {
	return r.Origin.ClusterID != "" && len(r.ClusterIDs) > 0 && !slices.Contains(r.ClusterIDs, r.Origin.ClusterID)
}

// takenSince reports whether a snapshot was taken after the object of the cluster was created: one of another object is
// then no earlier one.
func (r Plan) takenSince() bool {
	return !r.Owner.Created.IsZero() && r.Origin.Taken.After(r.Owner.Created.Add(clockSlack))
}

// doubt returns why it is not known whether a snapshot is of the same etcd cluster as the data that the members have,
// empty if it is, or if other has the answer. A restore gives a cluster a new ID, and its older snapshots are still its
// own.
func (r Plan) doubt() string {
	o := r.Origin
	const or = ", or the snapshot is of another cluster of that name"
	switch {
	case r.Saved || r.other() != "":
		return ""
	case r.otherObject():
		return format.PrintableLine(fmt.Sprintf("the record beside it names another %s of that name, with UID %s: either it was created again since%s", o.Kind, o.UID, or))
	case r.otherID():
		why := fmt.Sprintf("the record beside it has cluster ID %s, and the members have %s: either the cluster was restored or started again since", o.ClusterID, policy.List(r.ClusterIDs))
		if o.UID != "" && o.UID == string(r.Owner.UID) {
			return format.PrintableLine(fmt.Sprintf("the record beside it has cluster ID %s, and the members have %s: the cluster was restored or started again since", o.ClusterID, policy.List(r.ClusterIDs)))
		}
		return format.PrintableLine(why + or)
	case o.ClusterID != "" && len(r.ClusterIDs) > 0:
		return ""
	}
	if names := r.foreignMembers(); names != "" {
		return fmt.Sprintf("it has other members than this cluster (%s)", names)
	}
	if r.otherMembers() {
		return "none of its members has the ID of a member that this cluster has: either all members were replaced, or the cluster was restored or started again since" + or
	}
	return ""
}

// comparable reports whether the revisions of the snapshot and of the members are those of one etcd cluster, as far as
// is known.
func (r Plan) comparable() bool { return r.other() == "" && r.doubt() == "" }

// known returns the members in a snapshot of which the addresses or IDs can be compared. etcdutl gives the member of a
// data directory a loopback address, and so does a snapshot that backup-restore has compacted.
func (r Plan) known() (ids []string, urls []string, names []string) {
	for _, m := range r.Snapshot.Members {
		if len(m.PeerURLs) > 0 && !slices.ContainsFunc(m.PeerURLs, func(u string) bool { return !etcdconf.IsLoopback(operate.HostOf(u)) }) {
			continue
		}
		id := strconv.FormatUint(m.ID, 16)
		ids, urls, names = append(ids, id), append(urls, m.PeerURLs...), append(names, cmp.Or(m.Name, id))
	}
	return ids, urls, names
}

// foreignMembers returns the members in a snapshot if none has an ID or a peer URL of this
// cluster. It is empty if one has, or if nothing can be compared.
func (r Plan) foreignMembers() string {
	var ours []string
	for _, m := range r.Members {
		if m.PeerURL != "" {
			ours = append(ours, m.PeerURL)
		}
	}
	for _, l := range r.List {
		ours = append(append(ours, strconv.FormatUint(l.ID, 16)), l.PeerURLs...)
	}
	ids, urls, names := r.known()
	if len(ours) == 0 || operate.Meet(ours, ids) || operate.Meet(ours, urls) {
		return ""
	}
	return strings.Join(names, ", ")
}

// otherMembers reports whether no member in a snapshot has the ID of one that the members list. It is false if nothing
// can be compared.
func (r Plan) otherMembers() bool {
	ids, _, _ := r.known()
	var ours []string
	for _, l := range r.List {
		ours = append(ours, strconv.FormatUint(l.ID, 16))
	}
	return len(ids) > 0 && len(ours) > 0 && !operate.Meet(ours, ids)
}

// warnOfOrigin warns of a snapshot that is, or may be, of another etcd cluster than the data that it replaces.
func (r Plan) warnOfOrigin(warn func(format string, args ...any)) {
	const lost = "its revisions can't be compared with those of the members, so it is not known what is lost"
	if from := r.other(); from != "" {
		here := ""
		if r.Origin.Namespace == r.Owner.Namespace && r.Origin.Name == r.Owner.Name {
			here = fmt.Sprintf(". %s here has cluster ID %s and UID %s", r.Owner, cmp.Or(strings.Join(r.ClusterIDs, " and "), "unknown"), r.Owner.UID)
		}
		warn("the snapshot is of another cluster, as the file beside it shows: %s%s", from, here)
		warn("the snapshot is of another etcd cluster: %s", lost)
		return
	}
	if why := r.doubt(); why != "" {
		warn("the snapshot may be of another etcd cluster: %s", why)
		warn("if the snapshot is of another etcd cluster, %s", lost)
	}
}
