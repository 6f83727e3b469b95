// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package gather

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/labels"

	output "github.com/kubectl-etcd/kubectl-etcd/api/output/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf"
	"github.com/kubectl-etcd/kubectl-etcd/internal/health"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/memberservices"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/resolve"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/source"
)

// maxParallel is how many clusters are read at the same time.
const maxParallel = 8

// List summarizes the clusters of a namespace, or of all namespaces for "", whose owners
// have the labels, and lists the workloads that may run etcd. It asks members for their version only
// where dial is true and no image tag shows it. flags are those that printed commands need.
func List(ctx context.Context, reader *observe.Reader, access etcd.Access, namespace string, selector labels.Selector, dial bool, flags string) (*output.EtcdClusterList, error) {
	loaded, denials, err := reader.Preload(ctx, namespace, false)
	if err != nil {
		return nil, err
	}
	owners, err := loaded.Clusters(ctx)
	if err != nil {
		return nil, err
	}
	owners = owner.WithLabels(owners, selector)
	slices.SortFunc(owners, func(a, b owner.Owner) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Kind, b.Kind))
	})
	found := &output.EtcdClusterList{Items: make([]output.EtcdCluster, len(owners)), Unseen: unseen(denials)}
	candidates, err := resolve.Candidates(ctx, loaded)
	if err != nil {
		return nil, err
	}
	for _, e := range resolve.Unread(loaded.Scripts, "", selector) {
		found.Unseen = append(found.Unseen, output.Unseen{What: UnreadWorkloads, Why: e.Error()})
	}
	for _, c := range candidates {
		if selector.Matches(labels.Set(c.Labels)) {
			found.Hinted = append(found.Hinted, hinted(c, flags))
		}
	}
	group, within := errgroup.WithContext(ctx)
	group.SetLimit(maxParallel)
	for i, owner := range owners {
		group.Go(func() error {
			c, err := summarize(within, loaded, owner, denials)
			if err == nil && dial && c.Version == "" && c.Members.Desired > 0 {
				c.Version = memberVersions(within, loaded, access, owner)
			}
			found.Items[i] = c
			return err
		})
	}
	return found, group.Wait()
}

func hinted(c resolve.Candidate, flags string) output.HintedWorkload {
	out := output.HintedWorkload{Namespace: c.Namespace, Kind: c.Kind, Name: c.Name, Hints: c.Hints, Problem: c.Problem}
	for _, command := range c.DeclareWith() {
		out.Declare = append(out.Declare, command+flags)
	}
	if deny := c.DenyWith(); deny != "" {
		out.Deny = deny + flags
	}
	return out
}

// summarize returns one cluster as the objects of Kubernetes show it.
func summarize(ctx context.Context, r *observe.Reader, o owner.Owner, denials []source.Denial) (output.EtcdCluster, error) {
	c := output.EtcdCluster{ClusterIdentity: health.IdentityOf(o), Labels: o.Labels}
	if !o.Created.IsZero() {
		c.CreationTimestamp = &o.Created
	}
	facts, err := r.Facts(ctx, o)
	if err != nil {
		return c, err
	}
	services, err := memberservices.OfClients(ctx, r, o)
	if err != nil {
		return c, err
	}
	g := gatherer{Facts: &health.Facts{At: facts.At, Owner: o, Cluster: got(facts, nil)}, denials: denials}
	g.Services = got(services, g.refusal("services"))
	c.Members, c.Quorum, c.Traffic, c.Operation = g.MemberCount(), g.Quorum(), g.Traffic(), facts.Cluster.Operation
	if c.Backup, err = Backup(ctx, r, o, facts); err != nil {
		return c, err
	}
	pods, err := r.MemberPods(ctx, o)
	c.Version = strings.Join(etcdconf.ImageVersions(pods), ",")
	return c, err
}

// memberVersions asks the members which versions they run. It is empty where none answers.
func memberVersions(ctx context.Context, r *observe.Reader, access etcd.Access, o owner.Owner) string {
	survey, err := access.Survey(ctx, r, o)
	if err != nil && ctx.Err() != nil {
		return ""
	}
	var versions []string
	for _, m := range survey.Members {
		if m.Version != "" && !slices.Contains(versions, m.Version) {
			versions = append(versions, m.Version)
		}
	}
	slices.Sort(versions)
	return strings.Join(versions, ",")
}

// UnreadWorkloads stands for StatefulSets of which it is not known whether they run etcd, since what their pods
// execute could not be read.
const UnreadWorkloads = "workloads"

// Gaps sorts what a list of clusters lacks. missing are the kinds that the user may not list and without which clusters may
// be missing, unread is why it is not known of workloads whether they run etcd, and others lack no cluster.
func Gaps(unseen []output.Unseen) (missing, unread []string, others []output.Unseen) {
	for _, u := range unseen {
		switch {
		case u.What == UnreadWorkloads:
			unread = append(unread, u.Why)
		case requiredKinds[u.What]:
			missing = append(missing, u.What)
		default:
			others = append(others, u)
		}
	}
	return missing, unread, others
}
