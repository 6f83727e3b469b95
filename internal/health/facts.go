// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package health

import (
	"errors"
	"slices"
	"strings"
	"time"

	druidv1alpha1 "github.com/gardener/etcd-druid/api/core/v1alpha1"
	dto "github.com/prometheus/client_model/go"
	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	policyv1 "k8s.io/api/policy/v1"

	output "github.com/kubectl-etcd/kubectl-etcd/api/output/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/memberservices"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/peers"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/topologypolicy"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
	"github.com/kubectl-etcd/kubectl-etcd/policy/membership"
	"github.com/kubectl-etcd/kubectl-etcd/policy/spread"
)

// Got is a value that was read, or why it could not be read.
type Got[T any] struct {
	Value T
	Err   error
}

// ErrNotGathered is the error of a fact that no selected check needs.
var ErrNotGathered = errors.New("not asked for")

// Facts are what is known of one cluster at one moment. Each fact that the API server
// may refuse, or a member may not answer, is a Got with its own error.
type Facts struct {
	// At is the moment, by this machine's clock.
	At    time.Time
	Owner owner.Owner
	// Flags are appended to each command of a fix: --context and --kubeconfig as the user gave
	// them. Login are the flags for connections to members, which commands of this program have
	// as well. Empty for none.
	Flags, Login string
	// Unseen are the kinds of objects that the user may not list, and that were read
	// together for all facts. Each fact that needs one of them has that error as well.
	Unseen []output.Unseen

	// Pods are the pods of the members, by ordinal.
	Pods        Got[[]*corev1.Pod]
	StatefulSet Got[*appsv1.StatefulSet]
	// Parts are all StatefulSets of a cluster that spans several, by name. It is empty for any other cluster.
	Parts Got[[]*appsv1.StatefulSet]
	// part is the name of the one of them that a check judges, which then is StatefulSet. It is empty where a check
	// judges the whole cluster.
	part string
	// Etcd is nil for a cluster that isn't managed by etcd-druid.
	Etcd    Got[*druidv1alpha1.Etcd]
	Cluster Got[observe.Facts]
	// Conditions are what the operator reports, for people to read.
	Conditions Got[[]observe.Condition]
	Backup     Got[output.Backup]
	// UnderWay is the operation of this program on the cluster, nil for none. It may be
	// known in part where Err is set.
	UnderWay Got[*output.UnderWay]
	// KeepsClientsAway is true if that operation keeps clients away until its end: a restore, or a restart that is not
	// rolling.
	KeepsClientsAway bool
	// SetsAside is true if that operation can't go on and may have set the data of members aside.
	SetsAside bool
	// Unstopped is true if that operation is an unfinished restore that has stopped no member, or whose members another client
	// has started before it changed any data.
	Unstopped bool
	// Replaced is true if the StatefulSet was created again since that operation began.
	Replaced bool
	// UndoRollout is the command that restores the template that the pods of the members that answer run, empty for
	// unknown.
	UndoRollout string
	// Unrecorded is true if that operation has no journal, so that nothing of it can be continued.
	Unrecorded bool
	// Continuing are the commands that continue or undo that operation if its program has stopped, which it doesn't
	// seem to have.
	Continuing []string
	// Events are the warnings about objects of the namespace.
	Events Got[[]corev1.Event]

	// Survey is what the members answered; its Err is why no member could be asked.
	Survey Got[etcd.Survey]
	// LastList is the list with the most voters that a member keeps itself, and LastVoters counts its voters. They
	// are empty while a member list with quorum is known: then that one counts.
	LastList   []etcd.Listed
	LastVoters int
	// Silences are what is known of the members in etcd's list, or else in LastList, that no pod of the cluster runs,
	// and of those that don't answer, by member ID.
	Silences map[uint64]membership.Silence
	// Elsewhere are the pods of other workloads that Silences names, as far as they could be read.
	Elsewhere []*corev1.Pod
	// MayRemove is the verdict of the membership rule on the removal of each member in etcd's
	// list, by member ID. A member without a verdict may not be removed.
	MayRemove map[uint64]policy.Verdict
	// PeerURLs are where the peer URLs in etcd's list lead, by member ID. Its Err is why that is not known. It lacks the
	// members without a pod, and is empty for a single member, which no other one connects to.
	PeerURLs map[uint64]Got[peers.Lead]
	// FatalLogs are the messages with which etcd ended in pods that don't answer, by pod, where a
	// restart doesn't help.
	FatalLogs map[string]string
	// LastLines are the last lines of the logs of other pods that don't answer, by pod. They are shown, and
	// prove nothing.
	LastLines map[string]string
	// Barred are the pods whose members could not be asked because a permission or a
	// certificate is missing, which is no sign of a problem of the member.
	Barred map[string]bool
	// Password is true where a login needs a password.
	Password bool

	Metrics map[string]Got[Metrics]           // by pod
	Clocks  map[string]Got[etcd.ClockReading] // by pod
	Serving map[string]Got[etcdconf.Config]   // by pod
	Hashes  Got[Hashes]

	// Certificates are those in the Secrets that the members mount.
	Certificates Got[[]Certificate]
	// Unread names the certificates that etcd uses and that are in no Secret.
	Unread []*etcdconf.UnreadableError
	// Claims are the members' volume claims.
	Claims Got[[]corev1.PersistentVolumeClaim]
	// Away are the volume claims of the pods that the StatefulSet had before it was scaled in, as far
	// as a member list shows that.
	Away Got[[]corev1.PersistentVolumeClaim]
	// Fill is how full the members' volumes are, as their kubelets measure it.
	Fill Got[[]Fill]

	// Selecting are the disruption budgets whose selector matches a member.
	Selecting Got[[]policyv1.PodDisruptionBudget]
	// CoversOthers are the names of those that also select pods of others.
	CoversOthers []string
	Budgets      Got[observe.Budgets]
	Policy       Got[topologypolicy.Match]
	// Spread is the verdict of the spread rule, by that policy or by the defaults.
	Spread spread.Result
	// Nodes are the nodes that members may run on.
	Nodes     Got[[]spread.Node]
	Placement Got[[]policy.Member]
	Standing  Got[spread.Status]
	// VolumeNodes are the nodes that the bound volume of a member admits, by pod. It is read where
	// members don't run as the rule wants them, and lacks the pods of which it is not known.
	VolumeNodes map[string][]string

	Services  Got[[]corev1.Service]
	Peer      Got[memberservices.PeerService]
	Slices    Got[[]discoveryv1.EndpointSlice]
	Leases    Got[[]coordinationv1.Lease]
	Installed Got[bool] // etcd-webhook
}

// Certificate is a certificate that the cluster uses.
type Certificate struct {
	// Role is its purpose: client CA, server, peer.
	Role string
	// Where names the Secret and the key.
	Where    string
	NotAfter time.Time
	// Life is the whole validity of a certificate that is renewed automatically, and 0
	// otherwise. Issuer is the name of cert-manager's Certificate, or empty.
	Life   time.Duration
	Issuer string
}

// Metrics are the metrics of one member, by name.
type Metrics = map[string]*dto.MetricFamily

// Fill is how full a volume is.
type Fill struct {
	Claim                string
	Used, Capacity       int64 // bytes
	InodesUsed, InodesOf int64
}

// Hashes are the hashes of the voters' data.
type Hashes struct {
	etcd.Hashes

	// Skipped is why the hashes were not computed, empty where they were.
	Skipped string
	// Fix is the command that computes them all the same.
	Fix string
}

// target returns the cluster as an argument of this program's commands.
func (f *Facts) target() string {
	return f.Owner.Target().String()
}

// Command returns a command of this program on this cluster: the verb, the target and
// the rest.
func (f *Facts) Command(verb string, rest ...string) string {
	args := slices.Concat([]string{"kubectl etcd", verb, f.target()}, rest, []string{"-n", f.Owner.Namespace})
	return strings.Join(args, " ") + f.Flags + f.Login
}

// kubectl returns a command of kubectl in the namespace of the cluster.
func (f *Facts) kubectl(args ...string) string {
	return "kubectl " + strings.Join(args, " ") + " -n " + f.Owner.Namespace + f.Flags
}

// etcdContainer returns the container that runs the member, the first one where none is
// recognised, and nil for a pod without containers.
func etcdContainer(pod *corev1.Pod) *corev1.Container {
	if c := etcdconf.MemberOf(pod).Container; c != nil {
		return c
	}
	if len(pod.Spec.Containers) == 0 {
		return nil
	}
	return &pod.Spec.Containers[0]
}

// operation returns the scale or rollout that is under way, empty where there is none or
// where it isn't known.
func (f *Facts) operation() string { return f.Cluster.Value.Cluster.Operation }

// Size returns how many members the cluster should have: those of its StatefulSets, and those of other pods.
func (f *Facts) Size() int { return f.Owner.Members() }

// IdentityOf returns the names of an owner's cluster.
func IdentityOf(o owner.Owner) output.ClusterIdentity {
	id := output.ClusterIdentity{
		Namespace: o.Namespace, Kind: o.Kind, Name: o.Name, Target: o.Target().String(),
		Distribution: string(o.Distribution), StatefulSet: o.StatefulSet,
	}
	if o.Controller != nil {
		id.Controller = o.Controller.Kind + "/" + o.Controller.Name
	}
	return id
}
