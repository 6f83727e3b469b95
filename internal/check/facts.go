// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package check

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

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
	"github.com/kubectl-etcd/kubectl-etcd/policy/spread"
)

// Got is the answer to a question, or why there is none.
type Got[T any] struct {
	Value T
	Err   error
}

// errNotAsked stands where no selected check wants a fact.
var errNotAsked = errors.New("not asked for")

// Facts are what is known of one cluster. Everything that may be refused or go
// unanswered is Got, each with its own reason.
type Facts struct {
	// At is the moment, by this machine's clock.
	At    time.Time
	Owner observe.Owner
	// Flags go behind every kubectl command that a fix names: --context and
	// --kubeconfig, as this program was given them. Empty for none.
	Flags string

	// Pods are the members', by ordinal.
	Pods        Got[[]*corev1.Pod]
	StatefulSet Got[*appsv1.StatefulSet]
	// Etcd is nil for a cluster that isn't druid's.
	Etcd    Got[*druidv1alpha1.Etcd]
	Cluster Got[observe.Facts]

	// Survey is what the members say; its Err why none could be asked.
	Survey Got[etcd.Survey]
	// Barred are the pods whose members could not be asked: a permission or a
	// certificate is in the way, which says nothing of the member.
	Barred map[string]bool
	// Password says that a password is needed to log in.
	Password bool

	Metrics map[string]Got[metrics]           // by pod
	Clocks  map[string]Got[etcd.ClockReading] // by pod
	Serving map[string]Got[etcdconf.Config]   // by pod
	Hashes  Got[Hashes]

	// Certificates are those in the Secrets that members mount.
	Certificates Got[[]Certificate]
	// Unread says of certificates that etcd uses and that are in no Secret where
	// they are.
	Unread []*etcdconf.UnreadableError
	// Claims are the members' volume claims.
	Claims Got[[]corev1.PersistentVolumeClaim]
	// Fill is how full the members' volumes are, as their kubelets say.
	Fill Got[[]Fill]

	// Selecting are the disruption budgets whose selector matches a member.
	Selecting Got[[]policyv1.PodDisruptionBudget]
	// Wide are the names of those that select others than members, too.
	Wide    []string
	Budgets Got[observe.Budgets]
	Policy  Got[observe.Match]
	// Nodes are those that members may run on.
	Nodes     Got[[]spread.Node]
	Placement Got[[]policy.Member]
	Standing  Got[spread.Status]

	Services  Got[[]corev1.Service]
	Peer      Got[*corev1.Service]
	Slices    Got[[]discoveryv1.EndpointSlice]
	Leases    Got[[]coordinationv1.Lease]
	Installed Got[bool] // the webhook
	// LockName is the name of the cluster's lock among Leases, OperationKey the
	// annotation of it that names the operation.
	LockName, OperationKey string
}

// Certificate is one certificate that the cluster lives on.
type Certificate struct {
	// Role is what it is for: client CA, server, peer.
	Role string
	// Where names the Secret and the key.
	Where    string
	NotAfter time.Time
	// Life is how long it is valid in all, where something renews it by itself;
	// 0 where nobody is known to. Issuer is cert-manager's name for it, or empty.
	Life   time.Duration
	Issuer string
}

// metrics are a member's, by name.
type metrics = map[string]*dto.MetricFamily

// Fill is how full a volume is.
type Fill struct {
	Claim                string
	Used, Capacity       int64 // bytes
	InodesUsed, InodesOf int64
}

// Hashes are what the voters' data came to when they were compared.
type Hashes struct {
	etcd.Hashes

	// Skipped says why nobody was asked; empty when they were.
	Skipped string
	// Fix is how to have them asked all the same.
	Fix string
}

// target is the cluster as this program's own commands take it.
func (f *Facts) target() string {
	return f.Owner.Target().String()
}

// run is a command of this program on this cluster: verb, target, and whatever
// comes behind.
func (f *Facts) cmd(verb string, rest ...string) string {
	words := slices.Concat([]string{"kubectl etcd", verb, f.target()}, rest, []string{"-n", f.Owner.Namespace})
	return strings.Join(words, " ") + f.Flags
}

// kubectl is a command of kubectl's own in the cluster's namespace.
func (f *Facts) kubectl(words ...string) string {
	return "kubectl " + strings.Join(words, " ") + " -n " + f.Owner.Namespace + f.Flags
}

// etcd is the container that runs the member, the first one where none is
// recognised; nil for a pod without containers.
func etcdContainer(pod *corev1.PodSpec) *corev1.Container {
	for i := range pod.Containers {
		if etcdconf.RunsEtcd(&corev1.PodSpec{Containers: pod.Containers[i : i+1]}) {
			return &pod.Containers[i]
		}
	}
	if len(pod.Containers) == 0 {
		return nil
	}
	return &pod.Containers[0]
}

// operation is the scale or rollout under way, empty where there is none or it
// isn't known.
func (f *Facts) operation() string { return f.Cluster.Value.Cluster.Operation }

// size is how many members the cluster should have.
func (f *Facts) size() int { return max(int(f.Owner.Replicas), 0) }
