// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package step

import (
	"context"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
)

// CreatePod creates a pod.
type CreatePod struct {
	// Manifest is the pod as YAML, with its namespace.
	Manifest string
}

// Command implements Action.
func (p CreatePod) Command(f Flags) string {
	return fmt.Sprintf("%s <<'EOF'\n%sEOF", f.kubectl("create -f -"), p.Manifest)
}

// Do implements Action. A pod that exists is an error: another client has made it, and what it does with
// the files is not known.
func (p CreatePod) Do(ctx context.Context, c Clients) error { return p.create(ctx, c) }

// Try lets the API server try to create the pod. Admission may refuse it. A helper pod of the same cluster may
// exist, and no other pod.
func (p CreatePod) Try(ctx context.Context, c Clients) error {
	err := p.create(ctx, c, client.DryRunAll)
	switch {
	case apierrors.IsForbidden(err) && strings.Contains(err.Error(), "exceeded quota"):
		return fmt.Errorf("%w. Helper pods run beside the members for a moment, one for each member: raise the quota of the namespace until the command has ended", err)
	case !apierrors.IsAlreadyExists(err):
		return err
	}
	var pod corev1.Pod
	if err := yaml.UnmarshalStrict([]byte(p.Manifest), &pod); err != nil {
		return fmt.Errorf("read the manifest of a pod: %w", err)
	}
	_, err = c.helper(ctx, pod.Name, pod.Labels[v1alpha1.RestoreOfLabel])
	return err
}

func (p CreatePod) create(ctx context.Context, c Clients, options ...client.CreateOption) error {
	var pod corev1.Pod
	if err := yaml.UnmarshalStrict([]byte(p.Manifest), &pod); err != nil {
		return fmt.Errorf("read the manifest of a pod: %w", err)
	}
	if err := c.Kube.Create(ctx, &pod, options...); err != nil {
		return fmt.Errorf("create pod %s: %w", pod.Name, err)
	}
	return nil
}

// CreatePods creates a pod beside each of several pods.
type CreatePods struct {
	Pods []string
	// Manifest has Mark where the name of the pod belongs.
	Manifest, Mark string
}

// Command implements Action. The lines of a here-document must not be indented.
func (p CreatePods) Command(f Flags) string {
	return fmt.Sprintf("for pod in %s; do\nsed \"s/%s/$pod/g\" <<'EOF' | %s\n%sEOF\ndone", strings.Join(p.Pods, " "), p.Mark, f.kubectl("create -f -"), p.Manifest)
}

// Do implements Action.
func (p CreatePods) Do(ctx context.Context, c Clients) error {
	for _, pod := range p.Pods {
		if err := (CreatePod{Manifest: strings.ReplaceAll(p.Manifest, p.Mark, pod)}).Do(ctx, c); err != nil {
			return err
		}
	}
	return nil
}
