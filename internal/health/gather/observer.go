// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package gather

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	druidv1alpha1 "github.com/gardener/etcd-druid/api/core/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	output "github.com/kubectl-etcd/kubectl-etcd/api/output/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf"
	"github.com/kubectl-etcd/kubectl-etcd/internal/health"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/resolve"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/source"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// Observer reads the facts that status shows of one cluster, once or repeatedly.
type Observer struct {
	source    Source
	namespace string
	target    owner.Target

	// cluster and serving are kept while the pods stay the same and for a limited time,
	// because what authenticates the members may change. lastFailed is true where one
	// member didn't answer last time.
	cluster    *etcd.Cluster
	serving    map[string]health.Got[etcdconf.Config]
	pods       []string
	since      time.Time
	lastFailed bool
}

// How long the connections are kept, where all members answered and where not.
const (
	keepHealthy = 10 * time.Minute
	keepFailed  = 30 * time.Second
)

// NewObserver returns an Observer of the target in the namespace.
func NewObserver(source Source, namespace string, target owner.Target) *Observer {
	return &Observer{source: source, namespace: namespace, target: target}
}

// Close closes the connections to the members.
func (v *Observer) Close() {
	if v.cluster != nil {
		_ = v.cluster.Close() // nothing was written
	}
	v.cluster, v.serving, v.pods = nil, nil, nil
}

// Observe reads the facts as they are now. It fails where the cluster isn't found, and on
// an error that is not a missing permission.
func (v *Observer) Observe(ctx context.Context) (*health.Facts, error) {
	r, denials, err := v.source.Reader.Preload(ctx, v.namespace, true)
	if err != nil {
		return nil, err
	}
	owner, err := resolve.Target(ctx, r, v.namespace, v.target)
	if err != nil {
		return nil, unresolved(err, denials)
	}
	pods, err := r.MemberPods(ctx, owner)
	if err != nil {
		return nil, err
	}
	v.expire(pods)
	source := v.source
	source.Reader = r
	g := gatherer{
		Source: source, Facts: &health.Facts{At: source.Clock.Now(), Owner: owner, Flags: source.Flags, Login: source.Login, Unseen: unseen(denials)},
		need: health.Needs(health.StatusChecks()), denials: denials, unlisted: v.source.Reader, cluster: v.cluster, serving: v.serving, forStatus: true,
	}
	g.all(ctx)
	v.cluster, v.serving = g.cluster, g.Serving
	v.lastFailed = slices.ContainsFunc(g.Survey.Value.Members, func(m etcd.Member) bool { return m.Err != nil })
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	g.At = source.Clock.Now()
	return g.Facts, g.failed()
}

// expire drops the connections where the pods are others now, or the time is over.
func (v *Observer) expire(pods []*corev1.Pod) {
	var now []string
	for _, p := range pods {
		now = append(now, string(p.UID))
	}
	keep := keepHealthy
	if v.lastFailed {
		keep = keepFailed
	}
	if !slices.Equal(now, v.pods) || v.source.Clock.Now().Sub(v.since) > keep {
		v.Close()
		v.pods, v.since = now, v.source.Clock.Now()
	}
}

// requiredKinds are the resources without which clusters may be missing.
var requiredKinds = map[string]bool{"etcds." + druidv1alpha1.GroupName: true, "statefulsets.apps": true, "pods": true}

// unseen returns the denials as the API has them.
func unseen(denials []source.Denial) []output.Unseen {
	var out []output.Unseen
	for _, d := range denials {
		out = append(out, output.Unseen{What: d.Resource, Why: d.Err.Error()})
	}
	return out
}

// unresolved adds to the error of a cluster that isn't found the kinds that the user may
// not list: it may be among those.
func unresolved(err error, denials []source.Denial) error {
	missing, ok := errors.AsType[*resolve.NotFoundError](err)
	if !ok {
		return err
	}
	what := "no etcd cluster"
	if missing.Target.Name != "" {
		what = missing.Target.String() + " is not"
	}
	errs := []error{fmt.Errorf("%s among what you may see in namespace %s", what, missing.Namespace)}
	for _, d := range denials {
		if requiredKinds[d.Resource] {
			errs = append(errs, d.Err)
		}
	}
	if len(errs) == 1 {
		return err
	}
	return errors.Join(errs...)
}

// shown reads what status shows and no check judges.
func (g *gatherer) shown(ctx context.Context) {
	g.Conditions = got(g.Reader.Conditions(ctx, g.Owner, g.Cluster.Value))
	g.Backup = got(Backup(ctx, g.Reader, g.Owner, g.Cluster.Value))
	g.Events = got(g.events(ctx))
	for _, u := range []struct {
		what string
		err  error
	}{{"etcdtopologypolicies.policy.kubectl-etcd.dev", g.Policy.Err}, {"events", g.Events.Err}, {"operations under way", g.UnderWay.Err}} {
		if u.err != nil {
			g.Unseen = append(g.Unseen, output.Unseen{What: u.what, Why: u.err.Error()})
		}
	}
}

// Backup reads when the last backups were taken, and whether they succeed.
func Backup(ctx context.Context, r *observe.Reader, o owner.Owner, f observe.Facts) (output.Backup, error) {
	known, err := r.Backups(ctx, o)
	if err != nil {
		return output.Backup{}, err
	}
	b := output.Backup{Full: output.TimeOf(known.Full), Delta: output.TimeOf(known.Delta), Last: output.TimeOf(known.Last)}
	if c := f.Cluster.BackupReady; c.Status != policy.Absent {
		b.Status, b.Reason = string(c.Status), c.Reason
	}
	return b, nil
}

// events reads the warnings of the namespace. They are not preloaded, because only
// warnings are needed.
func (g *gatherer) events(ctx context.Context) ([]corev1.Event, error) {
	var list corev1.EventList
	err := g.Reader.List(ctx, &list, client.InNamespace(g.Owner.Namespace), client.MatchingFields{"type": corev1.EventTypeWarning})
	return list.Items, err
}

// failed returns the first error of a fact that must be known to show a status, unless it is a
// missing permission.
func (g *gatherer) failed() error {
	for _, err := range []error{
		g.Pods.Err, g.Cluster.Err, g.Conditions.Err, g.Backup.Err, g.Services.Err, g.Policy.Err, g.Placement.Err, g.Nodes.Err, g.Events.Err,
	} {
		if err != nil && !apierrors.IsForbidden(err) {
			return err
		}
	}
	return nil
}
