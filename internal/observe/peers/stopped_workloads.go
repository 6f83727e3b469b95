// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package peers

import (
	"context"
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf"
	"github.com/kubectl-etcd/kubectl-etcd/internal/flavour"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/memberservices"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/podfiles"
)

// Stopped is a workload that has no replica for a member, and that had one.
type Stopped struct {
	// Target is the type and name, as kubectl accepts them. Replicas is how many run the member again.
	Target   string
	Replicas int
	// Certain is true if its pod shows the member's address or name. Otherwise it is only possible that it is the one.
	Certain bool
}

// stopped is a Stopped with the pod that runs the member again.
type stopped struct {
	Stopped

	pod *corev1.Pod
	// claims are the names of the pod's volume claims from templates.
	claims []string
}

// StoppedWorkloadOf returns the StatefulSet, Deployment or ReplicaSet that runs a member of a cluster
// again, with its data, when it is scaled up: one of its namespace with 0 replicas, or a StatefulSet that
// was scaled in. It returns false for none. Where the configuration of a workload without replicas that
// runs etcd can't be read, it may be the one: any that is certain is returned before it. Deployments need only be readable for a cluster of pods
// without a StatefulSet.
func StoppedWorkloadOf(ctx context.Context, r *observe.Reader, o owner.Owner, p Peer) (Stopped, bool, error) {
	namespace := o.Namespace
	all, err := stoppedSets(ctx, r, o, p)
	if err != nil {
		return Stopped{}, false, err
	}
	others, err := stoppedDeployments(ctx, r, namespace)
	if err != nil && (o.WithoutStatefulSet() || !apierrors.IsForbidden(err)) {
		return Stopped{}, false, err
	}
	if all = append(all, others...); len(all) == 0 {
		return Stopped{}, false, nil
	}
	services, err := memberservices.List(ctx, r, namespace)
	if err != nil {
		return Stopped{}, false, err
	}
	search := &search{reader: r, namespace: namespace, services: services, files: podfiles.New(r, namespace)}
	addresses, _ := p.addresses() // PodsOf returns why an address is not known
	addresses, _ = search.followed(ctx, addresses)
	var possible []Stopped
	for i := range all {
		s := &all[i]
		is, may := p.isOf(s.pod, addresses), false
		if !is {
			is, may = p.mayBeConfigured(ctx, s.pod, search.files)
		}
		if !is && !may || !keepsData(ctx, r, s) {
			continue
		}
		if s.Certain = is; is {
			return s.Stopped, true, nil
		}
		possible = append(possible, s.Stopped)
	}
	if len(possible) == 0 {
		return Stopped{}, false, nil
	}
	return possible[0], true, nil
}

// names returns the member's name and the first labels of its hosts.
func (p Peer) names() []string {
	names := []string{p.Name}
	all, _ := p.addresses()
	for _, a := range all {
		names = append(names, a.name)
	}
	return names
}

// stoppedSets returns the StatefulSets with 0 replicas, each with the pod that has the member's name or
// host, otherwise with its first pod. It also returns those that had such a pod before they were scaled
// in. If a program manages the members, it removes members before it scales in, so what is left of them
// does not count.
func stoppedSets(ctx context.Context, r *observe.Reader, o owner.Owner, p Peer) ([]stopped, error) {
	var sets appsv1.StatefulSetList
	if err := r.Uncached().List(ctx, &sets, client.InNamespace(o.Namespace)); err != nil {
		return nil, fmt.Errorf("list StatefulSets of namespace %s: %w", o.Namespace, err)
	}
	manager := o.Membership().Manager
	managed := manager != flavour.Unmanaged && manager != flavour.BySets
	var out []stopped
	for i := range sets.Items {
		sts := &sets.Items[i]
		alone, ordinal := owner.OfStatefulSet(sts), 0
		for _, name := range p.names() {
			ordinal = max(ordinal, owner.OrdinalOf(name, sts.Name, alone.FirstOrdinal))
		}
		if n := int(ptr.Deref(sts.Spec.Replicas, 1)); n > 0 && (managed || ordinal < n) || etcdconf.DeniesEtcd(etcdconf.PodOfTemplate(sts)) {
			continue
		}
		s := stopped{
			Stopped: Stopped{Target: "statefulset/" + sts.Name, Replicas: ordinal + 1},
			pod:     etcdconf.NextPod(sts, &sts.Spec.Template, alone.PodName(ordinal)),
		}
		for _, c := range alone.Claims {
			s.claims = append(s.claims, c.Template+"-"+s.pod.Name)
		}
		out = append(out, s)
	}
	return out, nil
}

// stoppedDeployments returns the Deployments with 0 replicas, and the ReplicaSets of no Deployment.
func stoppedDeployments(ctx context.Context, r *observe.Reader, namespace string) ([]stopped, error) {
	var deployments appsv1.DeploymentList
	if err := r.Uncached().List(ctx, &deployments, client.InNamespace(namespace)); err != nil {
		return nil, fmt.Errorf("list Deployments of namespace %s: %w", namespace, err)
	}
	var sets appsv1.ReplicaSetList
	if err := r.Uncached().List(ctx, &sets, client.InNamespace(namespace)); err != nil {
		return nil, fmt.Errorf("list ReplicaSets of namespace %s: %w", namespace, err)
	}
	var out []stopped
	add := func(kind string, o metav1.Object, replicas *int32, t *corev1.PodTemplateSpec) {
		pod := &corev1.Pod{ObjectMeta: *t.ObjectMeta.DeepCopy(), Spec: *t.Spec.DeepCopy()}
		pod.Namespace, pod.Name = namespace, o.GetName()
		pod = etcdconf.AsDeclared(pod, o.GetAnnotations())
		if replicas != nil && *replicas == 0 && !etcdconf.DeniesEtcd(pod) {
			out = append(out, stopped{Stopped: Stopped{Target: kind + "/" + o.GetName(), Replicas: 1}, pod: pod})
		}
	}
	for i := range deployments.Items {
		d := &deployments.Items[i]
		add("deployment", d, d.Spec.Replicas, &d.Spec.Template)
	}
	for i := range sets.Items {
		if s := &sets.Items[i]; metav1.GetControllerOfNoCopy(s) == nil {
			add("replicaset", s, s.Spec.Replicas, &s.Spec.Template)
		}
	}
	return out, nil
}

// mayBeConfigured reports what configured reports, and whether it is possible for a pod that may come back: the
// configuration of a pod that runs etcd can't be read, or isn't known.
func (p Peer) mayBeConfigured(ctx context.Context, pod *corev1.Pod, files *podfiles.Files) (is, may bool) {
	is, unknown := p.configured(ctx, pod, files)
	if is || unknown != nil {
		return is, true
	}
	_, err := files.Config(ctx, pod)
	return false, err != nil && etcdconf.RunsEtcd(pod)
}

// keepsData reports whether the pod of a stopped workload may find the data that it had. Claims that
// can't be read may be there. Volumes that end with a pod keep none.
func keepsData(ctx context.Context, r *observe.Reader, s *stopped) bool {
	for _, name := range s.claims {
		if !mayHaveClaim(ctx, r, s.pod.Namespace, name) {
			return false
		}
	}
	return len(s.claims) > 0 || slices.ContainsFunc(s.pod.Spec.Volumes, func(v corev1.Volume) bool {
		switch {
		case v.PersistentVolumeClaim != nil:
			return mayHaveClaim(ctx, r, s.pod.Namespace, v.PersistentVolumeClaim.ClaimName)
		case v.EmptyDir != nil, v.ConfigMap != nil, v.Secret != nil, v.Projected != nil, v.DownwardAPI != nil, v.Ephemeral != nil, v.Image != nil:
			return false
		}
		return v.VolumeSource != corev1.VolumeSource{}
	})
}

func mayHaveClaim(ctx context.Context, r *observe.Reader, namespace, name string) bool {
	var claim corev1.PersistentVolumeClaim
	err := r.Uncached().Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, &claim)
	return err != nil && !apierrors.IsNotFound(err) || err == nil && claim.DeletionTimestamp == nil
}
