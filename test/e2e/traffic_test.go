// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	output "github.com/kubectl-etcd/kubectl-etcd/api/output/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	clientv3 "go.etcd.io/etcd/client/v3"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/test/clusters"
	"github.com/kubectl-etcd/kubectl-etcd/test/images"
)

// Client traffic is cut and restored on clusters that nobody manages: what clients
// notice, what the members don't, and what is counted.
func TestClientTrafficOfStatefulSets(t *testing.T) {
	operating(t, 6)
	for _, name := range []string{"plain-3", "bitnami-3"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			spec, err := clusters.ReadyMade(name)
			if err != nil {
				t.Fatal(err)
			}
			spec.Ephemeral = true
			c := start(t, namespace(t), "cut", spec)
			before := clientService(t, c)
			dialer := clientPod(t, c)
			dialer.reaches(t, true)

			residualIsCounted(t, c)
			dialer.reaches(t, false)
			if err := c.PutGet(t.Context()); err != nil {
				t.Errorf("the members don't work while clients are cut off: %v", err)
			}
			keptAgainstWriters(t, c, before)
			sameAgain(t, c, before)
			dialer.reaches(t, true)

			cutExpires(t, c, before)
			trafficRefusals(t, c, dialer)
		})
	}
}

// residualIsCounted holds a watch and a lease's keep-alive open and cuts: they are
// counted, and once they are closed nothing is left.
func residualIsCounted(t *testing.T, c *clusters.Cluster) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	conn, err := c.Dial(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	lease, err := conn.Grant(ctx, 60)
	if err != nil {
		t.Fatal(err)
	}
	alive, err := conn.KeepAlive(ctx, lease.ID)
	if err != nil {
		t.Fatal(err)
	}
	<-alive
	if r := <-conn.Watch(ctx, "seen", clientv3.WithCreatedNotify()); !r.Created {
		t.Fatalf("watch: %+v", r)
	}
	report, words := cutTraffic(t, c, 3, "10m")
	if want := "at least 2 streams open"; !strings.Contains(words, want) {
		t.Errorf("it doesn't say %q: %s", want, words)
	}
	if diff := cmp.Diff(map[string]int{"Watch/Watch": 1, "Lease/LeaseKeepAlive": 1}, streamsIn(report)); diff != "" {
		t.Errorf("streams (-want +got):\n%s", diff)
	}
	cutTraffic(t, c, 0, "10m", "--allow-residual")
	if err := conn.Close(); err != nil {
		t.Error(err)
	}
	cancel()
	eventually(t, "members to notice that their clients have gone", func(context.Context) (string, bool, error) {
		r := startPlugin(t, "cut-client-traffic", c.Full(), "-n", c.Namespace, "--for", "10m", "--reason", "a test", "-y")
		code := r.wait(t)
		return r.stdout.String(), code == 0, nil
	})
	report, _ = cutTraffic(t, c, 0, "11m")
	if n := report.OpenStreams; n == nil || *n != 0 || report.RestoredBy != "etcd-webhook" {
		t.Errorf("after the clients have gone: %+v", report)
	}
	lasts := time.Until(report.Until.Time)
	if until := cutUntil(t, c); !until.Equal(report.Until.Time) || lasts < 10*time.Minute || lasts > 11*time.Minute {
		t.Errorf("the cut lasts until %s, %s were asked for and the report says %s", until, 11*time.Minute, report.Until)
	}
}

// keptAgainstWriters writes the Service as it was, as pipelines and people do.
func keptAgainstWriters(t *testing.T, c *clusters.Cluster, before *corev1.Service) {
	t.Helper()
	until := cutUntil(t, c)
	old := before.DeepCopy()
	old.ResourceVersion = ""
	if err := kube.Update(t.Context(), old); err != nil {
		t.Fatal(err)
	}
	if got := cutUntil(t, c); !got.Equal(until) {
		t.Errorf("replaced, the Service is cut until %s, want %s", got, until)
	}
	forget := client.RawPatch("application/merge-patch+json", []byte(`{"spec":{"selector":{"kubectl-etcd.dev/client-traffic":null}}}`))
	if err := kube.Patch(t.Context(), old, forget); err != nil {
		t.Fatal(err)
	}
	if got := cutUntil(t, c); !got.Equal(until) {
		t.Errorf("patched, the Service is cut until %s, want %s", got, until)
	}
}

// sameAgain restores and holds the Service to what it was.
func sameAgain(t *testing.T, c *clusters.Cluster, before *corev1.Service) {
	t.Helper()
	plugin(t, 0, "restore-client-traffic", c.Full(), "-n", c.Namespace, "-y")
	unchanged(t, c, before)
	_, words := plugin(t, 0, "restore-client-traffic", c.Full(), "-n", c.Namespace)
	if !strings.Contains(words, "is not cut") {
		t.Errorf("restored twice it says %q", words)
	}
}

func unchanged(t *testing.T, c *clusters.Cluster, before *corev1.Service) {
	t.Helper()
	after := clientService(t, c)
	for what, diff := range map[string]string{
		"spec":        cmp.Diff(before.Spec, after.Spec),
		"labels":      cmp.Diff(before.Labels, after.Labels),
		"annotations": cmp.Diff(before.Annotations, after.Annotations),
	} {
		if diff != "" {
			t.Errorf("%s of the Service changed:\n%s", what, diff)
		}
	}
}

// cutExpires kills the plugin as soon as it has cut: the controller restores.
func cutExpires(t *testing.T, c *clusters.Cluster, before *corev1.Service) {
	t.Helper()
	r := startPlugin(t, "cut-client-traffic", c.Full(), "-n", c.Namespace, "--for", "8s", "--reason", "a test", "-y")
	r.says(t, "is cut until")
	_ = r.cmd.Process.Kill() // it may have ended already
	r.wait(t)
	until := cutUntil(t, c)
	eventually(t, "the controller to restore", func(context.Context) (string, bool, error) {
		s := clientService(t, c)
		_, cut := s.Spec.Selector[v1alpha1.ClientTrafficKey]
		return fmt.Sprint(s.Spec.Selector), !cut, nil
	})
	if early := time.Until(until); early > time.Second {
		t.Errorf("it was restored %s too early", early)
	}
	unchanged(t, c, before)
	awaitEvent(t, c, "is restored: it was cut until")
}

// trafficRefusals are the cuts that would part or starve the wrong ones.
func trafficRefusals(t *testing.T, c *clusters.Cluster, dialer pod) {
	t.Helper()
	refused := func(code int, want string, args ...string) {
		t.Helper()
		args = append(append([]string{"cut-client-traffic"}, args...), "-n", c.Namespace, "--for", "1m", "--reason", "a test", "-y")
		if _, words := plugin(t, code, args...); !strings.Contains(words, want) {
			t.Errorf("it doesn't say %q: %s", want, words)
		}
	}
	refused(2, "is headless", "service/"+c.PeerService())
	refused(1, `verb "patch" on "services" named "`+c.ClientService()+`"`, c.Full(), "--as", reader(t, c.Namespace))

	dialer.label(t, c.MemberLabels())
	refused(2, "also selects pod client", c.Full())
	dialer.label(t, nil)

	conn, err := c.Dial(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	added, err := conn.MemberAddAsLearner(t.Context(), []string{"http://nobody.invalid:2380"})
	if err != nil {
		t.Fatal(err)
	}
	refused(2, "is a learner", c.Full())
	if _, err := conn.MemberRemove(t.Context(), added.Member.ID); err != nil {
		t.Fatal(err)
	}
	if _, cut := clientService(t, c).Spec.Selector[v1alpha1.ClientTrafficKey]; cut {
		t.Error("a cut that was refused is there")
	}
}

// cutTraffic cuts, and returns the report and the words beside it.
func cutTraffic(t *testing.T, c *clusters.Cluster, code int, length string, more ...string) (*output.ClientTrafficReport, string) {
	t.Helper()
	args := append([]string{"cut-client-traffic", c.Full(), "-n", c.Namespace, "--for", length, "--reason", "a test", "-y", "-o", "json"}, more...)
	text, words := plugin(t, code, args...)
	var report output.ClientTrafficReport
	if err := json.Unmarshal([]byte(text), &report); err != nil {
		t.Fatalf("%v:\n%s", err, text)
	}
	if !report.Cut || len(report.Services) != 1 || report.Services[0].ReadyEndpoints != 0 {
		t.Errorf("not cut: %s", text)
	}
	return &report, words
}

// reader is a user who may look at everything in a namespace but its Secrets.
func reader(t *testing.T, ns string) string {
	t.Helper()
	name := "reader-of-" + ns
	err := kube.Create(t.Context(), &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "reader"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "view"},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: name}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return name
}

func streamsIn(report *output.ClientTrafficReport) map[string]int {
	all := map[string]int{}
	for _, m := range report.Members {
		for _, s := range m.Streams {
			all[s.Method] += s.AtLeast
		}
	}
	return all
}

func clientService(t *testing.T, c *clusters.Cluster) *corev1.Service {
	t.Helper()
	var s corev1.Service
	if err := kube.Get(t.Context(), client.ObjectKey{Namespace: c.Namespace, Name: c.ClientService()}, &s); err != nil {
		t.Fatal(err)
	}
	return &s
}

// cutUntil is what the client Service says.
func cutUntil(t *testing.T, c *clusters.Cluster) time.Time {
	t.Helper()
	value := clientService(t, c).Spec.Selector[v1alpha1.ClientTrafficKey]
	var seconds int64
	if _, err := fmt.Sscanf(value, v1alpha1.ClientTrafficPrefix+"%d", &seconds); err != nil {
		t.Fatalf("the client Service of %s is not cut: %q", c, value)
	}
	return time.Unix(seconds, 0)
}

// pod is a client in a pod of its own, beside a cluster.
type pod struct {
	*corev1.Pod

	// ask is a line of shell that asks etcd for its version.
	ask string
}

// clientPod starts a client that comes in through the client Service.
func clientPod(t *testing.T, c *clusters.Cluster) pod {
	t.Helper()
	now := int64(0)
	p := pod{
		Pod: &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Namespace: c.Namespace, Name: "client"},
			Spec: corev1.PodSpec{
				TerminationGracePeriodSeconds: &now,
				Containers: []corev1.Container{{
					Name: "client", Image: images.Alpine, ImagePullPolicy: corev1.PullIfNotPresent,
					Command: []string{"/bin/sh", "-c", "sleep 100000"},
				}},
			},
		},
		// By address: a static program's look-up of names is not what is tried.
		ask: fmt.Sprintf(`printf 'GET /version HTTP/1.0\r\n\r\n' | nc -w 3 %s 2379`, clientService(t, c).Spec.ClusterIP),
	}
	if err := kube.Create(t.Context(), p.Pod); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { remove(t, p.Pod) })
	eventually(t, "the client to run", func(ctx context.Context) (string, bool, error) {
		err := kube.Get(ctx, client.ObjectKeyFromObject(p.Pod), p.Pod)
		return string(p.Status.Phase), p.Status.Phase == corev1.PodRunning, err
	})
	return p
}

// reaches waits until a new connection through the Service works, or fails.
func (p pod) reaches(t *testing.T, want bool) {
	t.Helper()
	eventually(t, fmt.Sprintf("the members to be reached: %v", want), func(ctx context.Context) (string, bool, error) {
		out, err := exec.CommandContext(ctx, bed.Kubectl(), "--kubeconfig", bed.Kubeconfig(), "-n", p.Namespace,
			"exec", p.Name, "--", "/bin/sh", "-c", p.ask).CombinedOutput()
		return string(out), strings.Contains(string(out), "etcdserver") == want && (err == nil) == want, nil
	})
}

// label sets the pod's labels to these alone.
func (p pod) label(t *testing.T, labels map[string]string) {
	t.Helper()
	before := p.DeepCopy()
	p.Labels = labels
	if err := kube.Patch(t.Context(), p.Pod, client.MergeFrom(before)); err != nil {
		t.Fatal(err)
	}
}
