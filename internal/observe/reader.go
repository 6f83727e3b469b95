// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

// Package observe converts Kubernetes and druid objects into policy's facts: which
// pods belong to an etcd cluster, who owns it, which policy governs it, where
// its members may run and where their volumes are. It decides nothing and
// writes nothing. webhook, controller and the plugin call it.
package observe

import (
	"context"
	"time"

	druidv1alpha1 "github.com/gardener/etcd-druid/api/core/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/leaseclock"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/podfiles"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/source"
)

// Reader reads facts about etcd clusters.
type Reader struct {
	// Reader is the manager's cache in the cluster, and a client in the plugin.
	client.Reader
	// Live reads from the API server, for what a cache may not have yet. It is nil where
	// Reader does so already.
	Live client.Reader
	// Missing remembers owners that Live doesn't have, nil for none.
	Missing *source.Missing
	// Leases has the age of members' leases, and the time. Only Facts, Cluster and Budgets
	// need it.
	Leases *leaseclock.Clock
	// NoEtcds reports whether druid's kind is known not to be served, so that Owners needn't
	// list it. Nil means that Owners lists it each time.
	NoEtcds func() bool
	// Scripts reads what candidates mount. Nil reads nothing: what only a mounted script or
	// envFrom would show is then not shown.
	Scripts *podfiles.Scripts
	// Health has the answers of members whose readiness probe does not ask etcd. Nil asks none.
	Health Health
	// GuardsUnready is true if a guard judges the evictions of unready pods, which a budget with AlwaysAllow does not limit. Such
	// a budget of another author may then protect the cluster instead of ours.
	GuardsUnready bool
	// names is a cache that knows which objects belong to a cluster, for a Reader that reads these
	// one by one from the API server. Nil where Reader lists them.
	names client.Reader
	// memo is what a Reader for one decision has read. Nil remembers nothing.
	memo *memo
}

// Health has the last answers of members to the question whether they have a quorum.
type Health interface {
	// Asks reports whether the members of a cluster are asked.
	Asks(ctx context.Context, o owner.Owner) (bool, error)
	// Answer returns what the answers of a pod's member show.
	Answer(pod *corev1.Pod) Answer
}

// Answer is what a member's answers show of its health. The zero Answer is that of a member that can't be asked.
type Answer struct {
	// Known is true if they show whether it is Healthy. If not, the readiness of its pod decides.
	Known, Healthy bool
	// Awaited is true while an answer that is still to come may show that it is not healthy.
	Awaited bool
}

// healthPoll is how often members are asked for their health.
const healthPoll = 10 * time.Second

// Asking returns a Reader that also counts the answers of members.
func (r *Reader) Asking(h Health) *Reader {
	asking := *r
	asking.Health = h
	return &asking
}

// Preload returns a Reader over objects that were listed in advance, and the kinds that the
// user may not list. See source.Preload.
func (r *Reader) Preload(ctx context.Context, namespace string, withNodes bool) (*Reader, []source.Denial, error) {
	objects, denials, err := source.Preload(ctx, r.Reader, namespace, withNodes)
	if err != nil {
		return nil, nil, err
	}
	return &Reader{Reader: objects, Leases: r.Leases, Scripts: r.Scripts}, denials, nil
}

// ByName returns a Reader for one decision that reads the objects of a cluster from the API server, each at most once, and
// its pods one by one: it finds the names of those that have no replica any more in the cache. A namespace may have
// any number of other pods.
func (r *Reader) ByName() *Reader {
	return &Reader{Reader: source.Once(r.Uncached()), Leases: r.Leases, names: r.Reader}
}

// AddToScheme registers every kind that this package reads.
func AddToScheme(s *runtime.Scheme) error {
	for _, add := range []func(*runtime.Scheme) error{
		clientgoscheme.AddToScheme, v1alpha1.AddToScheme, druidv1alpha1.AddToScheme,
	} {
		if err := add(s); err != nil {
			return err
		}
	}
	return nil
}

// Uncached returns the reader of the API server.
func (r *Reader) Uncached() client.Reader {
	if r.Live != nil {
		return r.Live
	}
	return r.Reader
}

// Fetch gets an object, and reports whether it exists. What the cache doesn't have it reads from the API server, since
// the object may be new. An object whose kind isn't served doesn't exist: etcd-druid may be installed later or never.
func (r *Reader) Fetch(ctx context.Context, namespace, name string, obj client.Object) (bool, error) {
	key := client.ObjectKey{Namespace: namespace, Name: name}
	err := r.Get(ctx, key, obj)
	if apierrors.IsNotFound(err) && r.Live != nil {
		err = r.Live.Get(ctx, key, obj)
	}
	if apierrors.IsNotFound(err) || meta.IsNoMatchError(err) {
		return false, nil
	}
	return err == nil, err
}

// fetchOwner gets the owner that an object names, and reports whether it exists. Another object of that name is not the
// owner. What was not there a moment ago is only read from the cache.
func (r *Reader) fetchOwner(ctx context.Context, namespace string, ref *metav1.OwnerReference, obj client.Object) (bool, error) {
	err := r.Get(ctx, client.ObjectKey{Namespace: namespace, Name: ref.Name}, obj)
	if err == nil && obj.GetUID() == ref.UID {
		return true, nil
	}
	if r.Live != nil && (err == nil || apierrors.IsNotFound(err)) {
		if r.Missing.Has(namespace, ref) {
			return false, nil
		}
		// It is new, or was created again under its old name, and the cache is late.
		err = r.Live.Get(ctx, client.ObjectKey{Namespace: namespace, Name: ref.Name}, obj)
		if apierrors.IsNotFound(err) || err == nil && obj.GetUID() != ref.UID {
			r.Missing.Add(namespace, ref)
		}
	}
	if apierrors.IsNotFound(err) || meta.IsNoMatchError(err) {
		return false, nil
	}
	return err == nil && obj.GetUID() == ref.UID, err
}
