// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package install

import (
	"cmp"
	"context"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/api/output/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/format"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/podstate"
)

// readDeployment finds the Deployment in the namespace that the webhooks call. Without
// webhooks it searches all namespaces.
func (l *Inspector) readDeployment(ctx context.Context) error {
	p := &l.st.Program
	var found appsv1.DeploymentList
	err := l.kube.List(ctx, &found, client.InNamespace(p.Namespace), client.MatchingLabels{"app.kubernetes.io/name": webhookName})
	if err != nil || len(found.Items) == 0 {
		return err
	}
	d := &found.Items[0]
	p.Namespace, p.Deployment, p.Version = d.Namespace, d.Name, deploymentVersion(d)
	p.Ready, p.Desired = d.Status.ReadyReplicas, ptr.Deref(d.Spec.Replicas, 1)
	l.account = cmp.Or(d.Spec.Template.Spec.ServiceAccountName, "default")
	if containers := d.Spec.Template.Spec.Containers; len(containers) > 0 {
		p.Image = containers[0].Image
	}
	return nil
}

func (l *Inspector) readPods(ctx context.Context) error {
	var found corev1.PodList
	err := l.kube.List(ctx, &found, client.InNamespace(cmp.Or(l.st.Program.Namespace, webhookSpace)), client.MatchingLabels{"app.kubernetes.io/name": webhookName})
	if err != nil {
		return err
	}
	l.pods = slices.DeleteFunc(found.Items, func(p corev1.Pod) bool { return p.DeletionTimestamp != nil })
	slices.SortFunc(l.pods, func(a, b corev1.Pod) int { return cmp.Compare(a.Name, b.Name) })
	for i := range l.pods {
		l.st.Program.Replicas = append(l.st.Program.Replicas, replicaOf(&l.pods[i]))
	}
	return nil
}

func replicaOf(pod *corev1.Pod) v1alpha1.WebhookReplica {
	r := v1alpha1.WebhookReplica{Pod: pod.Name, Node: pod.Spec.NodeName}
	problem := podstate.Of(pod)
	r.Ready, r.LastExit = problem.State == "", problem.String()
	for _, c := range pod.Status.ContainerStatuses {
		r.Restarts += c.RestartCount
		if t := c.LastTerminationState.Terminated; t != nil && r.Ready {
			r.LastExit = format.Time(t.FinishedAt.Time) + ", " + podstate.Ended(t)
		}
	}
	return r
}

func (l *Inspector) readZones(ctx context.Context) error {
	for i := range l.st.Program.Replicas {
		r := &l.st.Program.Replicas[i]
		if r.Node == "" {
			continue
		}
		var node corev1.Node
		if err := l.kube.Get(ctx, client.ObjectKey{Name: r.Node}, &node); client.IgnoreNotFound(err) != nil {
			return err
		}
		r.Zone = node.Labels[corev1.LabelTopologyZone]
	}
	return nil
}
