// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"text/template"

	output "github.com/kubectl-etcd/kubectl-etcd/api/output/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/test/clusters"
	"github.com/kubectl-etcd/kubectl-etcd/test/images"
	"github.com/kubectl-etcd/kubectl-etcd/test/programs"
	"github.com/kubectl-etcd/kubectl-etcd/test/testbed"
	"github.com/kubectl-etcd/kubectl-etcd/test/testbed/machine"
	"github.com/kubectl-etcd/kubectl-etcd/test/testbed/pki"
)

// TestPluginStaticPod inspects a member as kubeadm runs it. The node's kubelet creates the pod
// from a file, and the API server only has a mirror pod. The certificates are on the node's
// disk, so only the user can provide them.
func TestPluginStaticPod(t *testing.T) {
	operating(t, 1)
	node := bed.Nodes()[len(bed.Nodes())-1]
	certificates := runStaticPod(t, node)
	pod := "etcd-" + node.Name
	in := []string{"-n", metav1.NamespaceSystem}
	given := slices.Concat(in, certificates)

	prints(t, 0, []string{"kubeadm   1/1       0       3.6."}, append([]string{"list"}, given...)...)
	texts := []string{"Pods kube-system/etcd (kubeadm)", "healthy, 1 of 1 members ready", "leader " + pod, node.Zone, "no Service for clients", "check etcd -n kube-system"}
	prints(t, 0, texts, append([]string{"status", "pod/" + pod}, given...)...)
	texts = []string{pod, "https://" + node.Address + ":2380", "https://" + node.Address + ":2379"}
	prints(t, 0, texts, append([]string{"member", "list", "-o", "wide"}, given...)...)
	prints(t, 0, []string{"No alarm is raised in Pods kube-system/etcd"}, append([]string{"alarm", "list", "etcd"}, given...)...)
	staticPodChecked(t, given)
	staticPodSaved(t, given)
	staticPodRefuses(t, pod, given)

	// No Kubernetes permission allows the plugin to read the certificates.
	unproven := []string{"server.crt of pod kube-system/" + pod + " is on its node below ", "(hostPath)", "--cacert and, if the member demands one, a client certificate"}
	prints(t, 3, unproven, append([]string{"status", "etcd"}, in...)...)
	prints(t, 1, unproven, append([]string{"member", "list", "etcd"}, in...)...)
	t.Run("a fix can be typed", func(t *testing.T) { staticPodFixes(t, given) })
}

// staticPodFixes types the fixes of the checks. No command may respond that it is impossible.
func staticPodFixes(t *testing.T, given []string) {
	t.Helper()
	out, _ := plugin(t, 0, slices.Concat([]string{"check", "etcd", "-o", "json", skipHostChecks}, given)...)
	for _, r := range decode[output.CheckReport](t, out).Checks {
		for _, f := range r.Findings {
			line, ours := strings.CutPrefix(f.Fix, "kubectl etcd ")
			if !ours {
				continue
			}
			tried := startPlugin(t, slices.Concat(strings.Fields(line), given[2:], []string{"--dry-run=client"})...)
			if code := tried.wait(t); code == 1 || code == 2 {
				t.Errorf("%s proposes %q, which ends with exit code %d: %s", r.ID, f.Fix, code, &tried.stderr)
			}
		}
	}
}

// staticPodRefuses tries commands that would change the membership, which kubeadm manages, and
// commands that need a Service or a StatefulSet.
func staticPodRefuses(t *testing.T, pod string, given []string) {
	t.Helper()
	const join = "kubeadm join --control-plane on a new node, or kubeadm reset on a node to remove"
	for args, texts := range map[string]string{
		"scale etcd --replicas 3":                        "kubeadm adds and removes its members; " + join,
		"member add etcd --peer-urls https://a:2380":     join,
		"member promote etcd " + pod:                     join,
		"member remove etcd " + pod:                      "it has a pod, and kubeadm manages the members",
		"member replace --force " + pod:                  "kubeadm reset on its node, and kubeadm join --control-plane again",
		"cut-client-traffic etcd --for 5m --reason test": "they dial the members themselves",
	} {
		refuses(t, []string{"refused: ", texts}, slices.Concat(strings.Fields(args), []string{"-y"}, given)...)
	}
}

// staticPodChecked checks which facts of a static pod's member are known and which are not.
func staticPodChecked(t *testing.T, given []string) {
	t.Helper()
	want := with(map[string]string{"Q001": "OK", "M006": "OK", "C001": "OK", "C002": "Unknown", "R001": "Info", "B001": "NotApplicable"})
	eventually(t, "the checks of a static pod", func(context.Context) (string, bool, error) {
		out, _ := plugin(t, 0, slices.Concat([]string{"check", "etcd", "-o", "json", skipHostChecks}, given)...)
		results := map[string]output.CheckResult{}
		for _, r := range decode[output.CheckReport](t, out).Checks {
			results[r.ID] = r
		}
		wrong := want(results)
		return wrong, wrong == "", nil
	})
}

func staticPodSaved(t *testing.T, given []string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "kubeadm.db")
	plugin(t, 0, slices.Concat([]string{"snapshot", "save", "etcd", file}, given)...)
	printed, _ := plugin(t, 0, "snapshot", "status", file)
	wants(t, printed, "all pages")
}

// runStaticPod gives a node's kubelet the manifest of kubeadm until the test ends, and waits
// until the mirror pod is Ready. It returns the flags with a client's certificate.
func runStaticPod(t *testing.T, node testbed.Node) (certificates []string) {
	t.Helper()
	image := images.Etcd("v3.6.16")
	if err := images.Push(t.Context(), programs.Cache{}, bed.Registry(), []string{image}, io.Discard); err != nil {
		t.Fatal(err)
	}
	const folder = "kubeadm"
	here, there := filepath.Join(bed.Shared(), folder), filepath.Join(machine.SharedPath, folder)
	ca := staticPodPKI(t, filepath.Join(here, "pki"), node)
	manifest, err := template.ParseFiles("testdata/kubeadm-etcd.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	err = manifest.Execute(&text, map[string]string{
		"Name": node.Name, "Address": node.Address, "Image": image, "PKI": filepath.Join(there, "pki"), "Data": filepath.Join(there, "data"),
	})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(bed.StaticPods(node.Name), "etcd.yaml")
	t.Cleanup(func() { endStaticPod(t, node, file, here) })
	if err := os.WriteFile(file, text.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the mirror pod to be Ready", func(ctx context.Context) (string, bool, error) {
		pod, err := mirrorPod(ctx, node)
		ready := slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
			return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
		})
		return fmt.Sprintf("%+v", pod.Status), ready, err
	})
	return []string{"--cacert", ca.Cert("ca"), "--cert", ca.Cert("client"), "--key", ca.Key("client")}
}

// staticPodPKI writes the files that kubeadm has in /etc/kubernetes/pki/etcd.
func staticPodPKI(t *testing.T, dir string, node testbed.Node) *pki.Authority {
	t.Helper()
	ca, err := pki.NewAuthority(dir, "ca")
	if err != nil {
		t.Fatal(err)
	}
	member := pki.Subject{Name: node.Name, DNS: []string{node.Name, "localhost"}, IPs: []net.IP{net.ParseIP(node.Address), net.IPv4(127, 0, 0, 1)}}
	for file, subject := range map[string]pki.Subject{"server": member, "peer": member, "client": {Name: "kube-etcd-healthcheck-client"}} {
		if err := ca.Issue(file, subject); err != nil {
			t.Fatal(err)
		}
	}
	return ca
}

// endStaticPod deletes the manifest. It deletes the manifest's files when the mirror pod is
// gone.
func endStaticPod(t *testing.T, node testbed.Node, manifest, files string) {
	t.Helper()
	if err := os.Remove(manifest); err != nil {
		t.Error(err)
	}
	err := clusters.Await(context.WithoutCancel(t.Context()), limit, "the mirror pod to be deleted", func(ctx context.Context) (string, bool, error) {
		pod, err := mirrorPod(ctx, node)
		return string(pod.Status.Phase), err != nil, client.IgnoreNotFound(err)
	})
	if err != nil {
		t.Error(err)
	}
	if err := os.RemoveAll(files); err != nil {
		t.Error(err)
	}
}

func mirrorPod(ctx context.Context, node testbed.Node) (pod corev1.Pod, err error) {
	err = kube.Get(ctx, client.ObjectKey{Namespace: metav1.NamespaceSystem, Name: "etcd-" + node.Name}, &pod)
	return pod, err
}
