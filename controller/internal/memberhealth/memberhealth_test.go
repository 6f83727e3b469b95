// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package memberhealth

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// pods are the pods of an API server, by name.
type pods struct {
	client.Reader
	all map[string]*corev1.Pod
}

func (p pods) Get(_ context.Context, key client.ObjectKey, obj client.Object, _ ...client.GetOption) error {
	pod := p.all[key.Name]
	if pod == nil {
		return errors.New("none")
	}
	pod.DeepCopyInto(obj.(*corev1.Pod))
	return nil
}

func podOf(name, flag string) *corev1.Pod {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name), OwnerReferences: []metav1.OwnerReference{{UID: "set", Controller: new(true)}}}}
	pod.Spec.Containers = []corev1.Container{{Name: "etcd", Command: []string{"etcd", flag}}}
	pod.Status.PodIP = "10.0.0." + strings.TrimPrefix(name, "main-")
	return pod
}

// members are three members of one workload, of which the third shows no URL without TLS.
type members struct {
	*testing.T
	*Asker
	all map[string]*corev1.Pod
	// replies are those of members, by IP. Others are healthy.
	replies map[string]reply
	asked   atomic.Int32
}

func membersOf(t *testing.T) *members {
	t.Helper()
	const plain = "--listen-metrics-urls=http://0.0.0.0:2381"
	m := &members{T: t, replies: map[string]reply{}, all: map[string]*corev1.Pod{
		"main-0": podOf("main-0", plain), "main-1": podOf("main-1", plain), "main-2": podOf("main-2", "--listen-client-urls=https://0.0.0.0:2379"),
	}}
	m.restart()
	return m
}

// restart has another leader, which has asked nothing yet.
func (m *members) restart() {
	m.Asker = &Asker{Live: pods{all: m.all}, Clock: clock.RealClock{}}
	m.get = func(_ context.Context, host, _ string) reply {
		m.asked.Add(1)
		if r, set := m.replies[host]; set {
			return r
		}
		return healthy
	}
}

// expect compares what the answers show: + for a healthy member, ~ for one that has failed once since, - for an unhealthy
// one, ? for an answer that is awaited, and o where the pod decides.
func (m *members) expect(at, want string) {
	m.Helper()
	text := ""
	for _, name := range []string{"main-0", "main-1", "main-2"} {
		a := m.Answer(m.all[name])
		if a.Healthy && !a.Known {
			m.Errorf("%s: %+v", at, a)
		}
		switch {
		case a.Healthy && a.Awaited:
			text += "~"
		case a.Healthy:
			text += "+"
		case a.Known:
			text += "-"
		case a.Awaited:
			text += "?"
		default:
			text += "o"
		}
	}
	synctest.Wait()
	if text != want {
		m.Errorf("%s: %s, want %s", at, text, want)
	}
}

// TestAnswer asks three members over time, one of which hangs and comes back.
func TestAnswer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := membersOf(t)
		m.replies["10.0.0.0"], m.replies["10.0.0.1"] = silent, silent
		m.expect("before any answer", "???")
		time.Sleep(Interval)
		m.expect("none answers", "??o")
		time.Sleep(Interval)
		m.expect("none has ever answered", "ooo")
		clear(m.replies)
		m.expect("within the interval", "ooo")
		time.Sleep(Interval)
		m.expect("asked again", "ooo")
		m.expect("both answer", "++o")
		before := m.asked.Load()
		m.expect("at once again", "++o")
		if n := m.asked.Load(); n != before {
			t.Errorf("asked %d times within the interval", n-before)
		}
		m.replies["10.0.0.1"] = silent
		for _, want := range []string{"++o", "+~o", "+-o", "+-o"} {
			time.Sleep(Interval)
			m.expect("main-1 hangs", want)
		}
		clear(m.replies)
		time.Sleep(Interval)
		m.expect("it is asked again", "+-o")
		m.expect("it answers again", "++o")
		time.Sleep(time.Hour)
		m.expect("not asked for an hour", "??o")
	})
}

// TestAnswerToNextLeader: a leader that has asked nothing yet, and one whose reads fail, wait for the answer of a member
// that hangs.
func TestAnswerToNextLeader(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := membersOf(t)
		m.replies["10.0.0.0"] = silent
		m.expect("the first question", "???")
		m.expect("main-0 has failed once", "?+o")
		time.Sleep(Interval)
		m.expect("asked again", "?+o")
		m.expect("main-0 hangs", "-+o")
		m.restart()
		m.expect("the next leader", "???")
		m.expect("main-0 has failed once", "?+o")
		time.Sleep(Interval)
		m.expect("asked again", "?+o")
		m.expect("main-0 hangs", "-+o")

		clear(m.replies)
		m.restart()
		hidden := m.all["main-0"]
		m.Live = pods{all: map[string]*corev1.Pod{"main-1": m.all["main-1"], "main-2": m.all["main-2"]}}
		m.expect("another leader", "???")
		for range 10 {
			m.expect("main-0 can't be read", "?+o")
			time.Sleep(Interval)
		}
		m.Live = pods{all: map[string]*corev1.Pod{"main-0": hidden}}
		m.expect("main-0 can be read, main-1 no more", "?+o")
		for range 5 {
			time.Sleep(Interval)
			m.Answer(m.all["main-1"])
		}
		if a := m.Answer(m.all["main-1"]); a.Known || !a.Awaited {
			t.Errorf("an answer of %s ago: %+v", 5*Interval, a)
		}
	})
}

// TestAnswerWithoutQuorum: that of etcd without a quorum is one, so members that hang beside it are no members that can't
// be asked.
func TestAnswerWithoutQuorum(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := membersOf(t)
		m.replies["10.0.0.0"], m.replies["10.0.0.1"] = silent, unhealthy
		m.expect("the first question", "???")
		for range failures {
			time.Sleep(Interval)
			m.Answer(m.all["main-0"])
			m.Answer(m.all["main-1"])
		}
		synctest.Wait()
		m.expect("no quorum", "--o")
	})
}

// TestFloodOfQuestions: members of a namespace that accept connections and never answer don't delay the question to a
// member of another namespace.
func TestFloodOfQuestions(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := membersOf(t)
		m.get = func(ctx context.Context, host, _ string) reply {
			if strings.HasPrefix(host, "10.1.") {
				<-ctx.Done()
				return silent
			}
			return healthy
		}
		var flood []*corev1.Pod
		for i := range 200 {
			pod := podOf(fmt.Sprint("flood-", i), "--listen-metrics-urls=http://0.0.0.0:2381")
			pod.Namespace, pod.Status.PodIP = "flood", fmt.Sprint("10.1.0.", i)
			m.all[pod.Name] = pod
			flood = append(flood, pod)
		}
		for _, pod := range flood {
			m.Answer(pod)
		}
		synctest.Wait()
		m.expect("the first question", "???")
		m.expect("at once", "++o")
		m.mu.Lock()
		if n := m.waiting.asked["flood"]; n != mostOfNamespace {
			t.Errorf("%d questions to members of the flood, want %d", n, mostOfNamespace)
		}
		m.mu.Unlock()
		time.Sleep(time.Hour)
		synctest.Wait()
		m.mu.Lock()
		defer m.mu.Unlock()
		if len(m.waiting.order)+len(m.waiting.waiting)+len(m.waiting.asked)+m.waiting.total > 0 {
			t.Errorf("after all questions: %+v", m.waiting)
		}
	})
}

// TestQueue: namespaces are served in rotation, and the questions of one are put in their order.
func TestQueue(t *testing.T) {
	t.Parallel()
	var q queue
	take := func(n int) (names []string) {
		for range n {
			one, ok := q.take()
			if !ok {
				return append(names, "none")
			}
			names = append(names, one.pod.String())
		}
		return names
	}
	for i := range 6 {
		q.add(question{pod: client.ObjectKey{Namespace: "a", Name: fmt.Sprint(i)}})
	}
	q.add(question{pod: client.ObjectKey{Namespace: "b", Name: "0"}})
	if got, want := take(6), strings.Fields("a/0 b/0 a/1 a/2 a/3 none"); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	q.done(question{pod: client.ObjectKey{Namespace: "a"}})
	if got, want := take(2), strings.Fields("a/4 none"); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	for i := range 2 * mostAtOnce {
		q.add(question{pod: client.ObjectKey{Namespace: fmt.Sprint("n", i)}})
	}
	if take(2 * mostAtOnce); q.total != mostAtOnce {
		t.Errorf("%d at once, want %d", q.total, mostAtOnce)
	}
}

// TestHealthOverHTTP: only the status 200 of the address itself is good, and only etcd's own text shows that it has no
// quorum.
func TestHealthOverHTTP(t *testing.T) {
	t.Parallel()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Host == "" || r.URL.Path != "/health" || r.URL.RawQuery != "exclude=NOSPACE":
			w.WriteHeader(http.StatusNotFound)
		case r.Header.Get("X") == "":
			fmt.Fprint(w, `{"health":"true"}`)
		}
	}))
	t.Cleanup(s.Close)
	redirecting := httptest.NewServer(http.RedirectHandler(s.URL+"/health?exclude=NOSPACE", http.StatusFound))
	t.Cleanup(redirecting.Close)
	answering := func(status int, text string) string {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(status)
			fmt.Fprint(w, text)
		}))
		t.Cleanup(s.Close)
		return s.URL
	}
	for _, row := range []struct {
		url  string
		want reply
	}{
		{s.URL, healthy},
		{redirecting.URL, silent},
		{"http://127.0.0.1:1", silent},
		{answering(http.StatusServiceUnavailable, `{"health":"false","reason":"RAFT NO LEADER"}`), unhealthy},
		{answering(http.StatusServiceUnavailable, "upstream connect error"), silent},
		{answering(http.StatusNotFound, `{"health":"false"}`), silent},
	} {
		host, port, err := net.SplitHostPort(strings.TrimPrefix(row.url, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		if got := health(t.Context(), host, port); got != row.want {
			t.Errorf("%s: %d, want %d", row.url, got, row.want)
		}
	}
}
