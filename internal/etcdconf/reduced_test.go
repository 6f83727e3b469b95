// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package etcdconf

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf/containers"
)

// mostReduced is how many bytes a reduced container has at most.
const mostReduced = 512

// checkReduced checks that a pod shows the same as one with reduced containers does, also after they are
// reduced again, and that no text of the pod is left.
func checkReduced(t *testing.T, what string, pod *corev1.Pod) {
	t.Helper()
	want := MemberOf(pod)
	for range 2 {
		pod = reducedPod(pod)
		got := MemberOf(pod)
		if got.Evidence != want.Evidence || nameOf(got.Container) != nameOf(want.Container) || fmt.Sprint(got.Err) != fmt.Sprint(want.Err) {
			t.Errorf("%s: reduced, it shows %d in container %q, %v, want %d in %q, %v", what,
				got.Evidence, nameOf(got.Container), got.Err, want.Evidence, nameOf(want.Container), want.Err)
		}
		for _, c := range slices.Concat(pod.Spec.Containers, pod.Spec.InitContainers) {
			text, err := json.Marshal(c)
			if err != nil || len(text) > mostReduced || strings.Contains(string(text), "secret") {
				t.Errorf("%s: reduced, it has %s, %v", what, text, err)
			}
		}
	}
}

func reducedPod(pod *corev1.Pod) *corev1.Pod {
	out := &corev1.Pod{ObjectMeta: pod.ObjectMeta}
	for _, c := range containers.Of(&pod.Spec) {
		if of := &out.Spec.Containers; containers.Sidecar(c) {
			out.Spec.InitContainers = append(out.Spec.InitContainers, Reduced(pod, c))
		} else {
			*of = append(*of, Reduced(pod, c))
		}
	}
	return out
}

func nameOf(c *corev1.Container) string {
	if c == nil {
		return ""
	}
	return c.Name
}

// TestReducedPods has pods with two containers of each kind, declared and not. Each has a text of a
// mebibyte.
func TestReducedPods(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("secret ", 1<<20/7)
	kinds := map[string]corev1.Container{
		"none":      {Command: []string{"sleep", long}},
		"hinted":    {Command: []string{"sh", "-c", "if a; then exec etcd; fi; exec /app # " + long}},
		"executes":  {Command: []string{"sh", "-c", "exec etcd --name a # " + long}},
		"variables": {Env: []corev1.EnvVar{{Name: "ETCD_NAME", Value: long}, {Name: "ETCD_LISTEN_PEER_URLS"}}},
		"wrapper":   {Args: []string{"start-etcd", long}},
	}
	for first, a := range kinds {
		for second, b := range kinds {
			for _, declared := range []string{"", "a", "c", v1alpha1.NotEtcd} {
				a.Name, b.Name = "a", "b"
				pod := &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{a, b}}}
				if declared != "" {
					pod.Annotations = map[string]string{v1alpha1.EtcdAnnotation: declared}
				}
				checkReduced(t, fmt.Sprintf("%s and %s, declared %q", first, second, declared), pod)
				pod = pod.DeepCopy()
				always := corev1.ContainerRestartPolicyAlways
				pod.Spec.Containers[1].RestartPolicy = &always
				pod.Spec.InitContainers, pod.Spec.Containers = pod.Spec.Containers[1:], pod.Spec.Containers[:1]
				checkReduced(t, fmt.Sprintf("%s and the sidecar %s, declared %q", first, second, declared), pod)
			}
		}
	}
}

func TestReducedProbes(t *testing.T) {
	t.Parallel()
	get := func(path string) *corev1.Probe {
		return &corev1.Probe{ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: path, Port: intstr.FromInt32(2379)}}}
	}
	run := &corev1.Probe{ProbeHandler: corev1.ProbeHandler{Exec: &corev1.ExecAction{Command: []string{"sh", "-c", strings.Repeat("secret", 1<<18)}}}}
	tcp := &corev1.Probe{ProbeHandler: corev1.ProbeHandler{TCPSocket: &corev1.TCPSocketAction{}}}
	for _, p := range []*corev1.Probe{nil, tcp, run, get("/readyz"), get("/livez"), get("/health"), get("/health?serializable=true")} {
		once := reducedProbe(p)
		if ShowsQuorum(once) != ShowsQuorum(p) || (once == nil) != (p == nil) || !reflect.DeepEqual(reducedProbe(once), once) {
			t.Errorf("the probe %v is reduced to %v", p, once)
		}
	}
}
