// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package health

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-etcd/kubectl-etcd/api/output/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// atOnce is how many clusters are looked at together.
const atOnce = 8

// Survey summarizes the clusters of a namespace, or of all namespaces for "", whose
// owners have the labels. It asks members for their version only where dial is true
// and no image tells it.
func Survey(ctx context.Context, reader *observe.Reader, to etcd.Access, namespace string, selector labels.Selector, dial bool) (*v1alpha1.EtcdClusterList, error) {
	loaded, denials, err := reader.Preload(ctx, namespace, false)
	if err != nil {
		return nil, err
	}
	owners, err := loaded.Clusters(ctx)
	if err != nil {
		return nil, err
	}
	owners = observe.WithLabels(owners, selector)
	slices.SortFunc(owners, func(a, b observe.Owner) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Kind, b.Kind))
	})
	found := &v1alpha1.EtcdClusterList{Items: make([]v1alpha1.EtcdCluster, len(owners)), Unseen: unseenOf(denials)}
	group, within := errgroup.WithContext(ctx)
	group.SetLimit(atOnce)
	for i, owner := range owners {
		group.Go(func() error {
			c, err := summarize(within, loaded, owner, found.Unseen)
			if err == nil && dial && c.Version == "" && c.Members.Desired > 0 {
				c.Version = memberVersions(within, loaded, to, owner)
			}
			found.Items[i] = c
			return err
		})
	}
	return found, group.Wait()
}

func unseenOf(denials []observe.Denial) []v1alpha1.Unseen {
	var out []v1alpha1.Unseen
	for _, d := range denials {
		out = append(out, v1alpha1.Unseen{What: d.Resource, Why: d.Err.Error()})
	}
	return out
}

// summarize is one cluster as the objects of Kubernetes show it.
func summarize(ctx context.Context, r *observe.Reader, o observe.Owner, unseen []v1alpha1.Unseen) (v1alpha1.EtcdCluster, error) {
	c := v1alpha1.EtcdCluster{ClusterIdentity: IdentityOf(o), Labels: o.Labels}
	if !o.Created.IsZero() {
		c.CreationTimestamp = &o.Created
	}
	facts, err := r.Facts(ctx, o)
	if err != nil {
		return c, err
	}
	c.Members = countMembers(o, facts)
	c.Quorum = quorumOf(facts)
	c.Operation = facts.Cluster.Operation
	if c.Backup, err = backupOf(ctx, r, o, facts); err != nil {
		return c, err
	}
	if c.Traffic, err = TrafficOf(ctx, r, o, unseen); err != nil {
		return c, err
	}
	pods, err := r.MemberPods(ctx, o)
	c.Version = strings.Join(etcdconf.ImageVersions(pods), ",")
	return c, err
}

func IdentityOf(o observe.Owner) v1alpha1.ClusterIdentity {
	id := v1alpha1.ClusterIdentity{
		Namespace: o.Namespace, Kind: o.Kind, Name: o.Name, Target: o.Target().String(),
		Distribution: string(o.Distribution), StatefulSet: o.StatefulSet,
	}
	if o.Controller != nil {
		id.Controller = o.Controller.Kind + "/" + o.Controller.Name
	}
	return id
}

func countMembers(o observe.Owner, f observe.Facts) v1alpha1.MemberCount {
	return v1alpha1.MemberCount{Desired: int(o.Replicas), Ready: HealthyMembers(f)}
}

// HealthyMembers counts those that gave a sign of life and whose pods are Ready. A
// lease's age is judged at its first sight here, by two machines' clocks: one
// that died less than about a minute ago may count as ready while its pod does.
func HealthyMembers(f observe.Facts) int {
	n := 0
	for _, m := range f.Cluster.Members {
		if m.Ready && m.PodReady && !m.Learner {
			n++
		}
	}
	return n
}

// quorumOf counts every member as a voter: Kubernetes doesn't know learners.
func quorumOf(f observe.Facts) v1alpha1.Quorum {
	q := v1alpha1.Quorum{Voters: f.Cluster.Size, Healthy: HealthyMembers(f)}
	if q.Voters > 0 {
		q.Needed = policy.Quorum(q.Voters)
		q.Slack = q.Healthy - q.Needed
	}
	return q
}

func backupOf(ctx context.Context, r *observe.Reader, o observe.Owner, f observe.Facts) (v1alpha1.Backup, error) {
	known, err := r.Backups(ctx, o)
	if err != nil {
		return v1alpha1.Backup{}, err
	}
	b := v1alpha1.Backup{Full: timeOf(known.Full), Delta: timeOf(known.Delta), Last: timeOf(known.Last)}
	if c := f.Cluster.BackupReady; c.Status != policy.Absent {
		b.Status, b.Reason = string(c.Status), c.Reason
	}
	return b, nil
}

func timeOf(t time.Time) *metav1.Time {
	if t.IsZero() {
		return nil
	}
	return &metav1.Time{Time: t}
}

// TrafficOf says whether clients reach the members by the Services that are theirs. A cut
// whose time is over goes on until its key is gone.
func TrafficOf(ctx context.Context, r *observe.Reader, o observe.Owner, unseen []v1alpha1.Unseen) (v1alpha1.Traffic, error) {
	if UnseenKind(unseen, "services") {
		return v1alpha1.Traffic{State: v1alpha1.TrafficUnknown}, nil
	}
	services, err := r.ClientServices(ctx, o)
	if err != nil || len(services) == 0 {
		return v1alpha1.Traffic{State: v1alpha1.TrafficNone}, err
	}
	t := v1alpha1.Traffic{State: v1alpha1.TrafficOpen}
	for i := range services {
		t.Services = append(t.Services, services[i].Name)
		if !observe.IsCut(&services[i]) {
			continue
		}
		t.State = v1alpha1.TrafficCut
		if until, readable := observe.CutUntil(&services[i]); readable && (t.Until == nil || until.After(t.Until.Time)) {
			t.Until = &metav1.Time{Time: until}
		}
	}
	return t, nil
}

// RequiredKinds are the resources without which clusters may be missing.
var RequiredKinds = map[string]bool{"etcds.druid.gardener.cloud": true, "statefulsets.apps": true, "pods": true}
