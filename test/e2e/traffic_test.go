// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	output "github.com/kubectl-etcd/kubectl-etcd/api/output/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/test/clusters"
	"github.com/kubectl-etcd/kubectl-etcd/test/images"
	"github.com/kubectl-etcd/kubectl-etcd/test/install"
)

// TestPluginClientTrafficOfStatefulSets cuts and restores client traffic on clusters without an
// operator. It checks what clients and members notice, and what the plugin counts.
func TestPluginClientTrafficOfStatefulSets(t *testing.T) {
	beside(t)
	for _, name := range []string{"plain-3", "bitnami-3"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			enter(t, 3)
			spec, err := clusters.ReadyMade(name)
			if err != nil {
				t.Fatal(err)
			}
			spec.Ephemeral = true
			c := start(t, namespace(t), "cut", spec)
			before := clientService(t, c)
			dialer := cutAndRestored(t, c, func() {
				keptAgainstWriters(t, c, before)
				if c.Flavour == clusters.Plain {
					whileCut(t, c, "5")
				}
			})

			cutExpires(t, c, before)
			cutInterrupted(t, c, before)
			trafficRefusals(t, c, dialer)
		})
	}
}

// residualIsCounted holds a watch and a lease's keep-alive open during a cut. The plugin counts
// them, and counts nothing after they are closed.
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
	eventually(t, "both streams to be counted once", func(context.Context) (string, bool, error) {
		report, texts := cutTraffic(t, c, 3, "10m")
		diff := cmp.Diff(map[string]int{"Watch/Watch": 1, "Lease/LeaseKeepAlive": 1}, streamsIn(report))
		return fmt.Sprintf("%s\n-want +got: %s", texts, diff), diff == "" && strings.Contains(texts, "at least 2 streams open"), nil
	})
	cutTraffic(t, c, 0, "10m", "--allow-residual")
	if err := conn.Close(); err != nil {
		t.Error(err)
	}
	cancel()
	began := time.Now().Truncate(time.Second)
	report, _ := cutTraffic(t, c, 0, "11m")
	ended := time.Now()
	if n := report.OpenStreams; n == nil || *n != 0 || report.RestoredBy != "etcd-webhook" {
		t.Errorf("report after the clients have disconnected: %+v", report)
	}
	until := cutUntil(t, c)
	if !until.Equal(report.Until.Time) || until.Before(began.Add(11*time.Minute)) || until.After(ended.Add(11*time.Minute)) {
		t.Errorf("the cut lasts until %s; %s were requested between %s and %s, and the report has %s", until, 11*time.Minute, began, ended, report.Until)
	}
}

// whileCut checks that members can't be changed during a cut. A snapshot from a member can still
// be saved.
func whileCut(t *testing.T, c *clusters.Cluster, size string) {
	t.Helper()
	const cut = "client traffic is cut: a member that restarts can't rejoin until it is restored"
	pod := members(t, c)[0].Pod.Name
	for _, args := range [][]string{{"scale", target(c), "--replicas", size}, {"member", "replace", target(c), pod, "--force"}} {
		refuses(t, []string{"refused: ", cut}, append(args, "-n", c.Namespace, "-y")...)
	}
	plugin(t, 0, "snapshot", "save", target(c), filepath.Join(t.TempDir(), "cut.db"), "-n", c.Namespace)
}

// keptAgainstWriters writes the Service as it was before, as pipelines and users do. The cut
// must stay.
func keptAgainstWriters(t *testing.T, c *clusters.Cluster, before *corev1.Service) {
	t.Helper()
	old := before.DeepCopy()
	old.ResourceVersion = ""
	unset := client.RawPatch("application/merge-patch+json", []byte(`{"spec":{"selector":{"kubectl-etcd.dev/client-traffic":null}}}`))
	for how, write := range map[string]func(context.Context) error{
		"replaced": func(ctx context.Context) error { return kube.Update(ctx, old.DeepCopy()) },
		"patched":  func(ctx context.Context) error { return kube.Patch(ctx, old.DeepCopy(), unset) },
	} {
		eventually(t, "the cut to be kept in a Service that is "+how, func(ctx context.Context) (string, bool, error) {
			until, ignored := cutUntil(t, c), failedOpen(t)
			if err := write(ctx); err != nil {
				return "", false, err
			}
			now := clientService(t, c).Spec.Selector
			if now[v1alpha1.ClientTrafficKey] == observe.CutValue(until) {
				return "", true, nil
			}
			if failedOpen(t) == ignored {
				t.Fatalf("the Service that is %s selects %v, but the cut lasts until %s", how, now, until)
			}
			// etcd-webhook was too slow, so the API server went on without the review.
			cutTraffic(t, c, 0, "11m")
			return fmt.Sprintf("the Service that is %s selects %v: etcd-webhook was too slow", how, now), false, nil
		})
	}
}

// failedOpen returns the API server's counter of reviews by etcd-webhook that came too late.
func failedOpen(t *testing.T) string {
	t.Helper()
	counts, err := install.Counts(t.Context(), bed, install.FailedOpen)
	if err != nil {
		t.Fatal(err)
	}
	return counts
}

// sameAgain restores the traffic, and checks that the Service is the same as before.
func sameAgain(t *testing.T, c *clusters.Cluster, before *corev1.Service) {
	t.Helper()
	plugin(t, 0, "restore-client-traffic", c.Full(), "-n", c.Namespace, "-y")
	unchanged(t, c, before)
	_, texts := plugin(t, 0, "restore-client-traffic", c.Full(), "-n", c.Namespace)
	if !strings.Contains(texts, "is not cut") {
		t.Errorf("the second restore prints %q", texts)
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

// cutExpires kills the plugin as soon as it has cut. The controller then restores the traffic.
func cutExpires(t *testing.T, c *clusters.Cluster, before *corev1.Service) {
	t.Helper()
	r := startPlugin(t, "cut-client-traffic", c.Full(), "-n", c.Namespace, "--for", "8s", "--reason", "a test", "-y")
	r.awaitOutput(t, "is cut until")
	_ = r.cmd.Process.Kill() // the process may have ended
	r.wait(t)
	until := cutUntil(t, c)
	eventually(t, "the controller to restore", func(context.Context) (string, bool, error) {
		s := clientService(t, c)
		_, cut := s.Spec.Selector[v1alpha1.ClientTrafficKey]
		return fmt.Sprint(s.Spec.Selector), !cut, nil
	})
	if early := time.Until(until); early > time.Second {
		t.Errorf("the controller restored %s too early", early)
	}
	unchanged(t, c, before)
	awaitEvent(t, c, ": the cut ended at")
}

// cutInterrupted interrupts the plugin after the API server has stored its last write, and
// before the plugin gets the response. The plugin must roll back the cut everywhere.
func cutInterrupted(t *testing.T, c *clusters.Cluster, before *corev1.Service) {
	t.Helper()
	other := before.DeepCopy()
	other.ObjectMeta = metav1.ObjectMeta{Namespace: before.Namespace, Name: before.Name + "-z", Labels: before.Labels}
	other.Spec.ClusterIP, other.Spec.ClusterIPs = "", nil
	create(t, other)
	defer remove(t, other)
	host, held := answerLost(t, "/services/"+other.Name)
	r := startPlugin(t, "cut-client-traffic", c.Full(), "-n", c.Namespace, "--for", "1h", "--reason", "a test", "-y", "--server", host)
	r.awaitOutput(t, "Service "+before.Name+" is cut until")
	<-held
	if _, cut := clientService(t, c).Spec.Selector[v1alpha1.ClientTrafficKey]; !cut {
		t.Error("the API server has not stored the cut")
	}
	if err := r.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if code := r.wait(t); code == 0 {
		t.Errorf("exit code 0 after an interrupt: %s", r.stderr.String())
	}
	unchanged(t, c, before)
	if err := kube.Get(t.Context(), client.ObjectKeyFromObject(other), other); err != nil {
		t.Fatal(err)
	}
	if _, cut := other.Spec.Selector[v1alpha1.ClientTrafficKey]; cut {
		t.Errorf("Service %s is still cut: %s", other.Name, r.stderr.String())
	}
	if strings.Contains(r.stderr.String(), "record the cut") {
		t.Errorf("the plugin failed to remove its record of the cut: %s", r.stderr.String())
	}
}

// answerLost serves the API server through a proxy. The proxy drops the first response to a
// change of the object. held is closed after the change.
func answerLost(t *testing.T, object string) (host string, held chan struct{}) {
	t.Helper()
	config, err := bed.RESTConfig()
	if err != nil {
		t.Fatal(err)
	}
	held = make(chan struct{})
	var once sync.Once
	return apiServedBy(t, config, func(api http.Handler, w http.ResponseWriter, r *http.Request) {
		lose := false
		if r.Method == http.MethodPatch && strings.HasSuffix(r.URL.Path, object) && !r.URL.Query().Has("dryRun") {
			once.Do(func() { lose = true })
		}
		if !lose {
			api.ServeHTTP(w, r)
			return
		}
		api.ServeHTTP(httptest.NewRecorder(), r)
		close(held)
		<-r.Context().Done()
	}), held
}

// trafficRefusals tries cuts that would affect the wrong clients or members.
func trafficRefusals(t *testing.T, c *clusters.Cluster, dialer pod) {
	t.Helper()
	refused := func(code int, want string, args ...string) {
		t.Helper()
		args = append(append([]string{"cut-client-traffic"}, args...), "-n", c.Namespace, "--for", "1m", "--reason", "a test", "-y")
		eventually(t, "a refusal with "+want, func(context.Context) (string, bool, error) {
			r := startPlugin(t, args...)
			got := r.wait(t)
			texts := r.stderr.String()
			if got == 0 {
				t.Fatalf("the cut was not refused: %s", texts)
			}
			return fmt.Sprintf("code %d\n%s", got, texts), got == code && strings.Contains(texts, want), nil
		})
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
	var added *clientv3.MemberAddResponse
	retry(t, "the learner to be added", func(ctx context.Context) (err error) {
		added, err = conn.MemberAddAsLearner(ctx, []string{"http://missing.invalid:2380"})
		return err
	})
	refused(2, "is a learner", c.Full())
	retry(t, "the learner to be removed", func(ctx context.Context) error {
		_, err := conn.MemberRemove(ctx, added.Member.ID)
		if errors.Is(err, rpctypes.ErrMemberNotFound) {
			return nil // the response to the first removal was lost
		}
		return err
	})
	if _, cut := clientService(t, c).Spec.Selector[v1alpha1.ClientTrafficKey]; cut {
		t.Error("a refused cut was made")
	}
}

// cutTraffic cuts client traffic, and returns the report and the messages.
func cutTraffic(t *testing.T, c *clusters.Cluster, code int, length string, more ...string) (*output.ClientTrafficReport, string) {
	t.Helper()
	args := append([]string{"cut-client-traffic", c.Full(), "-n", c.Namespace, "--for", length, "--reason", "a test", "-y", "-o", "json"}, more...)
	var text, texts string
	eventually(t, fmt.Sprintf("a cut that ends with code %d", code), func(context.Context) (string, bool, error) {
		// The members notice new and closed connections with a delay. Another cut extends the
		// first one.
		r := startPlugin(t, args...)
		got := r.wait(t)
		text, texts = r.stdout.String(), r.stderr.String()
		return fmt.Sprintf("code %d\n%s%s", got, text, texts), got == code, nil
	})
	var report output.ClientTrafficReport
	if err := json.Unmarshal([]byte(text), &report); err != nil {
		t.Fatalf("%v:\n%s", err, text)
	}
	if !report.Cut || len(report.Services) != 1 || report.Services[0].ReadyEndpoints != 0 {
		t.Errorf("the traffic is not cut: %s", text)
	}
	return &report, texts
}

// reader returns a user who may read everything in a namespace except its Secrets.
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

// cutUntil returns the end of the cut from the client Service.
func cutUntil(t *testing.T, c *clusters.Cluster) time.Time {
	t.Helper()
	value := clientService(t, c).Spec.Selector[v1alpha1.ClientTrafficKey]
	var seconds int64
	if _, err := fmt.Sscanf(value, v1alpha1.ClientTrafficPrefix+"%d", &seconds); err != nil {
		t.Fatalf("the client Service of %s is not cut: %q", c, value)
	}
	return time.Unix(seconds, 0)
}

// pod is a client in its own pod in the cluster's namespace.
type pod struct {
	*corev1.Pod

	// ask is a line of shell that reads etcd's version.
	ask string
}

// clientPod starts a client that connects through the client Service.
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
		// The client uses an address, because a static program's name resolution is not under
		// test.
		ask: fmt.Sprintf(`printf 'GET /version HTTP/1.0\r\n\r\n' | nc -w 3 %s 2379`, clientService(t, c).Spec.ClusterIP),
	}
	if c.TLS { // any response is enough
		p.ask += " && echo etcdserver"
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

// reaches waits until a new connection through the Service succeeds or fails, as wanted.
func (p pod) reaches(t *testing.T, want bool) {
	t.Helper()
	eventually(t, fmt.Sprintf("a new connection to succeed: %v", want), func(ctx context.Context) (string, bool, error) {
		out, err := p.call(ctx)
		return out, strings.Contains(out, "etcdserver") == want && (err == nil) == want, nil
	})
}

// call opens a new connection and returns the response.
func (p pod) call(ctx context.Context) (string, error) {
	out, err := exec.CommandContext(ctx, bed.Kubectl(), "--kubeconfig", bed.Kubeconfig(), "-n", p.Namespace,
		"exec", p.Name, "--", "/bin/sh", "-c", p.ask).CombinedOutput()
	return string(out), err
}

// label replaces the pod's labels.
func (p pod) label(t *testing.T, labels map[string]string) {
	t.Helper()
	before := p.DeepCopy()
	p.Labels = labels
	if err := kube.Patch(t.Context(), p.Pod, client.MergeFrom(before)); err != nil {
		t.Fatal(err)
	}
}
