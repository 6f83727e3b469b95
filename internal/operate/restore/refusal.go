// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package restore

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf/containers"
	"github.com/kubectl-etcd/kubectl-etcd/internal/format"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
)

// refuse returns the error of a plan that isn't printed: one that stops half way may already
// have removed the members' volumes.
func (r Plan) refuse(format string, args ...any) error {
	return operate.RefuseTo("restore "+r.Owner.String(), format, args...)
}

// refusal returns why a cluster can't be restored by a plan with these flags.
func (r Plan) refusal() error {
	for _, check := range []func() error{r.elsewhere, r.separate, r.tooNew, r.cutOff, r.belowStore, r.leavingClaims, r.notFenced, r.UnknownClaim, r.noHost, r.ownRecovery, r.cannotGrow, r.silent} {
		if err := check(); err != nil {
			return err
		}
	}
	if r.Answers && r.Denied != "" {
		return r.refuse("the present data can't be saved: %s", r.Denied)
	}
	if r.Bump > 0 && r.Newest >= r.restored() {
		return r.refuse("it is at revision %d, and would be at %d: clients that watch don't notice a revision that isn't above all they have seen; raise it with --bump-revision %d",
			r.Newest, r.restored(), r.Newest-r.Snapshot.Written+DefaultBump)
	}
	return nil
}

// elsewhere returns why another program than this one restores a cluster.
func (r Plan) elsewhere() error {
	if why := r.Owner.NotRestorable(r.Druid != nil && r.Druid.Store != nil); why != "" {
		return r.refuse("%s", why)
	}
	if len(r.Others) > 0 {
		return r.refuse("pod %s, which other workloads run, answers as a member of its etcd cluster: a plan restores one StatefulSet, and the others would keep the old data beside it. Remove them from etcd first (%s), or restore the snapshot into one workload by hand, and add the other members to it",
			strings.Join(r.Others, " and pod "), r.plugin("member list %s", r.Target()))
	}
	return nil
}

// separate returns why etcds that are no cluster are not restored: all of them would get the data of one.
func (r Plan) separate() error {
	if !r.Singles || !r.Unlisted {
		return nil
	}
	return r.refuse("each pod is an etcd of its own with its own data, not a member of one cluster: it lists itself alone, and the pod template has no --initial-cluster. A restore would replace the data of all of them; if that is how they run, kubectl annotate statefulset %s -n %s %s=%s",
		r.Owner.StatefulSet, r.Owner.Namespace, v1alpha1.EtcdAnnotation, v1alpha1.NotEtcd)
}

// tooNew returns why the members can't read a snapshot: a newer etcd wrote it. That shows only when they start, and nothing
// undoes the restore then. A restore that has begun is continued.
func (r Plan) tooNew() error {
	have, want := etcd.Release(r.Snapshot.StorageVersion).Minor(), etcd.Release(r.Etcd).Minor()
	if r.recorded && !r.otherSource || want == 0 || have <= want {
		return nil
	}
	return r.refuse("the snapshot has the format of etcd %s, and the members run %s, which doesn't read it; update them to etcd %s first, or restore a snapshot of their version", r.Snapshot.StorageVersion, r.Etcd, r.Snapshot.StorageVersion)
}

// cutOff returns why the members of druid can't join.
func (r Plan) cutOff() error {
	if r.Druid != nil && r.Druid.Cut {
		return r.refuse("client traffic is cut, and its members join through their clients' Service; end the cut first: %s", r.plugin("restore-client-traffic %s", r.Target()))
	}
	return nil
}

// belowStore returns why the sidecars of druid would restore something else than the snapshot: they take what has the
// highest revision in the store.
func (r Plan) belowStore() error {
	if r.Druid == nil {
		return nil
	}
	if newest := max(r.Newest, r.Druid.Stored); newest > 0 && newest >= r.restored() {
		return r.refuse("its sidecars restore the highest revision in the backup store, which has or may get revision %d, and the snapshot would be at %d; raise it with --bump-revision %d",
			newest, r.restored(), newest-r.Snapshot.Written+DefaultBump)
	}
	return nil
}

// ownRecovery returns why restored data wouldn't stay.
func (r Plan) ownRecovery() error {
	if r.RestartsFromSnapshot {
		return r.refuse("its start script replaces restored data with its own last snapshot (%s). %sSwitch that off: %s", r.Owner.Product().RecoveryEnv, r.saveFirst(), r.Owner.Product().RecoveryOff)
	}
	return nil
}

// cannotGrow returns why members that start one after the other can't be added to the first.
func (r Plan) cannotGrow() error {
	if !r.OneByOne {
		return nil
	}
	if r.isCut() {
		return r.refuse("client traffic is cut until %s%s, and its members start one after the other: no member is added while client traffic is cut; end the cut first: %s",
			format.Time(r.Before.Until()), r.cutBy(), r.plugin("restore-client-traffic %s", r.Target()))
	}
	if m := r.Owner.Membership(); m.Unknown {
		return r.refuse("its members start one after the other, and it is not known what adds the others to the first: %s may do it; %s. Or restore one member with --replicas 1, and scale the cluster out",
			m.ManagerName, m.ScaleHow)
	}
	if shared := r.shared(); shared != "" {
		return r.refuse("its members start one after the other and share PersistentVolumeClaim %s, so the old data of the others can't be deleted with their claims; restore one member with --replicas 1, remove the directories of the others, and scale the cluster out", shared)
	}
	return nil
}

// UnknownClaim returns why the claim of the data isn't known, nil if it is.
func (r Plan) UnknownClaim() error {
	dir := r.Files.UnmountedDataDir
	switch {
	case r.Druid != nil:
		return nil
	case dir != "" && !etcdconf.IsKnownDir(dir):
		return fmt.Errorf("%s keeps its data in %s, and only its pods know which directory that is: the PersistentVolumeClaim of the data is not known", r.Owner, dir)
	case r.Files.Manifest == "":
		return fmt.Errorf("%s keeps its data in %s, which is on no PersistentVolumeClaim: restored data would be lost when a pod starts", r.Owner, dir)
	}
	return nil
}

// shared returns a claim that all members share, empty for none.
func (r Plan) shared() string {
	for _, name := range r.Files.Claims {
		if !strings.Contains(name, podMark) {
			return name
		}
	}
	return ""
}

// restartsFromSnapshot reports whether a container's start script is configured to recover
// automatically.
func restartsFromSnapshot(spec *corev1.PodSpec, container, variable string) bool {
	on := false
	for _, c := range containers.Of(spec) {
		for _, v := range c.Env {
			if c.Name == container && v.Name == variable {
				on = slices.Contains([]string{"1", "yes", "true"}, strings.ToLower(v.Value))
			}
		}
	}
	return on
}

// onePath returns an error for members whose directories differ: all pods have the same
// commands.
func (r Plan) onePath(first, pod string, a, b etcdconf.Config) error {
	there, here := Files{DataDir: a.DataDir, WALDir: a.WALDir}.dirs(), Files{DataDir: b.DataDir, WALDir: b.WALDir}.dirs()
	if slices.Equal(there, here) {
		return nil
	}
	return r.refuse("pod %s keeps its data in %s and pod %s in %s, and a plan has one path for all; restore one member with --replicas 1, and scale the cluster out",
		first, strings.Join(there, " and "), pod, strings.Join(here, " and "))
}

// onlyOurs returns an error for a StatefulSet that runs only some members of a cluster: the others
// would keep their data, and go on as the old cluster.
func (r Plan) onlyOurs(c etcdconf.Config, size int) error {
	peers := c.InitialPeers()
	if r.bySidecars() || len(peers) <= max(size, int(r.Owner.Replicas)) {
		return nil
	}
	var others []string
	for _, p := range peers {
		host := ""
		if u, err := url.Parse(p.URL); err == nil {
			host, _, _ = strings.Cut(u.Hostname(), ".")
		}
		if p.Name != c.Name && r.Owner.Ordinal(p.Name) < 0 && r.Owner.Ordinal(host) < 0 {
			others = append(others, p.Name)
		}
	}
	if len(others) == 0 {
		return nil
	}
	return r.refuse("its initial cluster also has %s, which StatefulSet %s doesn't run: they would keep their data and go on as the old cluster; stop all workloads of the cluster, restore one member with etcdutl, and add the others as new members",
		strings.Join(others, " and "), r.Owner.StatefulSet)
}

// druidSize returns how many members druid starts after the restore. No flag changes it.
func (r Plan) druidSize(ctx context.Context, kube client.Reader, asked int32) (int32, error) {
	if r.recorded {
		return asked, nil
	}
	e, err := operate.ReadEtcd(ctx, kube, r.Owner)
	if err != nil {
		return 0, err
	}
	has := e.Spec.Replicas
	switch {
	case has == 0:
		return 0, r.refuse("it is hibernated (spec.replicas is 0), and druid would stop all members again; scale it out first: %s",
			r.plugin("scale etcd/%s --replicas %d", r.Owner.Name, max(1, voters(&r))))
	case asked != 0 && asked != has:
		return 0, r.refuse("--replicas is %d and its spec.replicas %d, which is how many members druid makes; omit --replicas, and scale it after the restore", asked, has)
	}
	return has, nil
}

// markPod replaces the variables for the pod's name in the path of a mount by podMark.
func markPod(c *corev1.Container, path string) string {
	for _, v := range c.Env {
		if v.ValueFrom != nil && v.ValueFrom.FieldRef != nil && v.ValueFrom.FieldRef.FieldPath == "metadata.name" {
			path = strings.ReplaceAll(path, "$("+v.Name+")", podMark)
		}
	}
	return path
}

// subPath returns the path in a volume that a container mounts, with podMark for the pod's
// name.
func (r Plan) subPath(c *corev1.Container, m corev1.VolumeMount) (string, error) {
	path := cmp.Or(m.SubPath, markPod(c, m.SubPathExpr))
	if m.SubPathExpr != "" && strings.Contains(path, "$(") {
		return "", r.refuse("container %s mounts %s from subPathExpr %s of volume %s, and only metadata.name can be resolved here; restore it by hand, or use only metadata.name in it",
			c.Name, m.MountPath, m.SubPathExpr, m.Name)
	}
	return path, nil
}
