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

// TestHealthy asks three members over time, one of which hangs and comes back.
func TestHealthy(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const plain = "--listen-metrics-urls=http://0.0.0.0:2381"
		all := map[string]*corev1.Pod{"main-0": podOf("main-0", plain), "main-1": podOf("main-1", plain), "main-2": podOf("main-2", "--listen-client-urls=https://0.0.0.0:2379")}
		var asked atomic.Int32
		down := map[string]bool{}
		a := &Asker{Live: pods{all: all}, Clock: clock.RealClock{}}
		a.get = func(_ context.Context, host, _ string) bool { asked.Add(1); return !down[host] }
		expect := func(at, want string) {
			t.Helper()
			text := ""
			for _, name := range []string{"main-0", "main-1", "main-2"} {
				switch healthy, known := a.Healthy(all[name]); {
				case !known:
					text += "?"
				case healthy:
					text += "+"
				default:
					text += "-"
				}
			}
			synctest.Wait()
			if text != want {
				t.Errorf("%s: %s, want %s", at, text, want)
			}
		}
		down["10.0.0.0"], down["10.0.0.1"] = true, true
		expect("before any answer", "???")
		time.Sleep(Interval)
		expect("none answers", "???")
		time.Sleep(Interval)
		expect("none has ever answered", "???")
		down["10.0.0.0"], down["10.0.0.1"] = false, false
		time.Sleep(Interval)
		expect("asked again", "???")
		expect("both answer", "++?")
		before := asked.Load()
		expect("at once again", "++?")
		if n := asked.Load(); n != before {
			t.Errorf("asked %d times within the interval", n-before)
		}
		down["10.0.0.1"] = true
		for _, want := range []string{"++?", "++?", "+-?", "+-?"} {
			time.Sleep(Interval)
			expect("main-1 hangs", want)
		}
		down["10.0.0.1"] = false
		time.Sleep(Interval)
		expect("it is asked again", "+-?")
		expect("it answers again", "++?")
		time.Sleep(time.Hour)
		expect("not asked for an hour", "???")
		delete(all, "main-1")
	})
}

// TestQueue: namespaces take turns, and the questions of one are put in their order.
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

// TestHealthOverHTTP: only the status 200 of the address itself is good.
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
	for _, row := range []struct {
		url  string
		want bool
	}{{s.URL, true}, {redirecting.URL, false}, {"http://127.0.0.1:1", false}} {
		host, port, err := net.SplitHostPort(strings.TrimPrefix(row.url, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		if got := health(t.Context(), host, port); got != row.want {
			t.Errorf("%s: %t", row.url, got)
		}
	}
}
