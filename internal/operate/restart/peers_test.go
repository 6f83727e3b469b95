// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package restart

import (
	"fmt"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/kubectl-etcd/kubectl-etcd/internal/apitest"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/operatetest"
)

// TestDuePeerURLs: the list is changed only where the next pod does not listen on what is listed.
func TestDuePeerURLs(t *testing.T) {
	t.Parallel()
	const plain, secure = "http://main-0.peer:2380", "https://main-0.peer:2380"
	for _, row := range []struct {
		what, listed, listens, advertised string
		// now are the listeners of the pod that runs, empty if they are not known.
		now                string
		due, contradiction string
	}{
		{what: "nothing changes", listed: plain, listens: "http://0.0.0.0:2380", advertised: plain},
		{what: "TLS on", listed: plain, listens: "https://0.0.0.0:2380", advertised: secure, due: secure},
		{what: "TLS off", listed: secure, listens: "http://0.0.0.0:2380", advertised: plain, due: plain},
		{what: "another port", listed: plain, listens: "http://0.0.0.0:2390", advertised: "http://main-0.peer:2390", due: "http://main-0.peer:2390"},
		{what: "another host, which etcd ignores", listed: plain, listens: "http://0.0.0.0:2380", advertised: "http://10.1.0.1:2380"},
		{what: "updated already", listed: secure, listens: "https://0.0.0.0:2380", advertised: secure},
		{what: "the port is another one, and the current listeners are not known", listed: plain, listens: "http://0.0.0.0:12380", advertised: plain, contradiction: "--initial-advertise-peer-urls is " + plain},
		{what: "the advertised port has no listener", listed: plain, listens: "http://0.0.0.0:2390", advertised: "http://main-0.peer:2381", now: "http://0.0.0.0:2380", contradiction: "--initial-advertise-peer-urls is http://main-0.peer:2381"},
		{what: "TLS on, and the listener has another port", listed: plain, listens: "https://0.0.0.0:2390", advertised: secure, now: "http://0.0.0.0:2380", contradiction: "--initial-advertise-peer-urls is " + secure},
		{what: "TLS on behind a Service that maps the port", listed: plain, listens: "https://0.0.0.0:12380", advertised: secure, now: "http://0.0.0.0:12380", due: secure},
		{what: "a Service maps the port, to another one than before", listed: plain, listens: "http://0.0.0.0:12380", advertised: plain, now: "http://0.0.0.0:12379"},
		{what: "the listener leaves the listed port", listed: plain, listens: "http://0.0.0.0:2390", advertised: plain, now: "http://0.0.0.0:2380", contradiction: "it listens for peers on http://0.0.0.0:2390"},
		{what: "the listener leaves one of two ports", listed: plain, listens: "http://0.0.0.0:2390", advertised: plain, now: "http://0.0.0.0:2380,http://0.0.0.0:2390", contradiction: "--initial-advertise-peer-urls is " + plain},
		{what: "the listener goes to the loopback address", listed: plain, listens: "http://127.0.0.1:2380", advertised: plain, now: "http://0.0.0.0:2380", contradiction: "it listens for peers on http://127.0.0.1:2380"},
		{what: "it goes there by name", listed: plain, listens: "http://localhost:2380", advertised: plain, now: "http://0.0.0.0:2380", contradiction: "it listens for peers on http://localhost:2380"},
		{what: "it goes there in IPv6", listed: plain, listens: "http://[::1]:2380", advertised: plain, now: "http://[::]:2380", contradiction: "it listens for peers on http://[::1]:2380"},
		{what: "only another port stays reachable", listed: plain, listens: "http://127.0.0.1:2380,http://0.0.0.0:2390", advertised: plain, now: "http://0.0.0.0:2380", contradiction: "it listens for peers on"},
		{what: "a proxy is before the loopback address, as before", listed: plain, listens: "http://127.0.0.1:2380", advertised: plain, now: "http://127.0.0.1:2380"},
		{what: "the listener leaves the loopback address", listed: "http://localhost:2380", listens: "http://0.0.0.0:2380", advertised: plain, now: "http://localhost:2380"},
		{what: "the listener gets a second port", listed: plain, listens: "http://0.0.0.0:2380,http://0.0.0.0:2390", advertised: plain, now: "http://0.0.0.0:2380"},
		{what: "a proxy does TLS, as before", listed: secure, listens: "http://0.0.0.0:2380", advertised: secure, now: "http://0.0.0.0:2380"},
		{what: "only the listener", listed: plain, listens: "https://0.0.0.0:2380", advertised: plain, contradiction: "--initial-advertise-peer-urls is " + plain},
		{what: "nothing is advertised", listed: plain, listens: "https://0.0.0.0:2380", contradiction: "--initial-advertise-peer-urls is not set"},
		{what: "served on both", listed: plain, listens: "https://0.0.0.0:2381,http://0.0.0.0:2380", advertised: secure},
	} {
		c := etcdconf.Config{ListenPeer: strings.Split(row.listens, ","), AdvertisePeer: []string{row.advertised}, Where: map[string]string{}}
		if row.advertised != "" {
			c.Where["initial-advertise-peer-urls"] = "flag"
		}
		now := etcdconf.Config{ListenPeer: strings.FieldsFunc(row.now, func(r rune) bool { return r == ',' })}
		due, contradiction := duePeerURLs([]string{row.listed}, c, now.PeerListeners())
		if got := strings.Join(due, ","); got != row.due || !strings.Contains(contradiction, row.contradiction) || (row.contradiction == "") != (contradiction == "") {
			t.Errorf("%s: %q, %q", row.what, got, contradiction)
		}
	}
}

// TestComparePeers: what a script, a launcher or only the pod decides is not known, except for a host that stays.
func TestComparePeers(t *testing.T) {
	t.Parallel()
	const plain, secure = "http://main-0.peer:2380", "https://main-0.peer:2380"
	for _, row := range []struct {
		what, listed, listens, advertised string
		// of is the setting that is not known.
		of           string
		due, unknown string
	}{
		{what: "known", listed: plain, listens: "https://0.0.0.0:2380", advertised: secure, due: secure},
		{what: "a script decides the listener", listed: plain, listens: "https://0.0.0.0:2380", advertised: secure, of: "listen-peer-urls", unknown: "--listen-peer-urls: the ways"},
		{what: "a script decides the advertised URL", listed: plain, listens: "https://0.0.0.0:2380", advertised: secure, of: "initial-advertise-peer-urls", unknown: "--initial-advertise-peer-urls: the ways"},
		{what: "a launcher decides", listed: secure, unknown: "doesn't show --listen-peer-urls"},
		{what: "etcd's defaults", listed: "http://localhost:2380"},
		{what: "the pod's IP, which is not known yet", listed: plain, listens: "https://0.0.0.0:2380", advertised: "https://:2380", due: secure},
		{what: "the pod's IP", listed: plain, listens: "https://0.0.0.0:2390", advertised: "https://10.1.0.1:2390", due: "https://main-0.peer:2390"},
		{what: "no port", listed: plain, listens: "https://0.0.0.0", advertised: "https://10.1.0.1", due: "https://main-0.peer"},
		{what: "the list has IPs, and the next one is not known", listed: "http://10.1.0.1:2380", listens: "https://0.0.0.0:2380", advertised: "https://:2380", unknown: "the host of https://:2380"},
		{what: "the list has IPs", listed: "http://10.1.0.1:2380", listens: "https://0.0.0.0:2380", advertised: "https://10.1.0.1:2380", due: "https://10.1.0.1:2380"},
	} {
		c := etcdconf.Config{ListenPeer: []string{"http://localhost:2380"}, AdvertisePeer: []string{"http://localhost:2380"}, Where: map[string]string{}}
		if row.listens != "" {
			c.ListenPeer, c.Where["listen-peer-urls"] = []string{row.listens}, "flag"
			c.AdvertisePeer, c.Where["initial-advertise-peer-urls"] = []string{row.advertised}, "flag"
		}
		if row.of != "" {
			c.Unknown = map[string]string{row.of: "the ways of the script differ"}
		}
		p := peers{listed: []string{row.listed}}
		p.compare(etcdconf.Config{}, false, c)
		if got := strings.Join(p.due, ","); got != row.due || p.contradiction != "" || (p.unknown == "") != (row.unknown == "") || !strings.Contains(p.unknown, row.unknown) {
			t.Errorf("%s: %q, %q, %q", row.what, got, p.contradiction, p.unknown)
		}
	}
}

// replaceArgs changes the arguments of the template, whose pods are not restarted.
func (c *stage) replaceArgs(changes ...string) {
	sts := c.Get(operatetest.Path("StatefulSet", "main"))
	operatetest.Field(sts, "spec")["updateStrategy"] = apitest.Object{"type": "OnDelete"}
	containers, _ := operatetest.Field(sts, "spec", "template", "spec")["containers"].([]any)
	container, _ := containers[0].(apitest.Object)
	args, _ := container["args"].([]any)
	for i := range args {
		args[i] = strings.NewReplacer(changes...).Replace(fmt.Sprint(args[i]))
	}
	c.Put(operatetest.Path("StatefulSet", "main"), sts)
}

var secured = []string{
	"--listen-peer-urls=http://", "--listen-peer-urls=https://",
	"--initial-advertise-peer-urls=http://", "--initial-advertise-peer-urls=https://",
}

// newSecured returns a stage whose next pods have TLS between members.
func newSecured(t *testing.T) *stage {
	t.Helper()
	c := newTogether(t)
	c.together(t) // the old pods
	c.replaceArgs(secured...)
	return c
}

// secured returns how many members etcd's list has with TLS.
func (c *stage) secured() int {
	n := 0
	for _, m := range c.Etcd.Members {
		if strings.HasPrefix(m.PeerURLs[0], "https:") {
			n++
		}
	}
	return n
}

// TestCoordinatedPeers: a command that dies before any of its writes, also those of the member list, is completed
// by the same command, or ended by --abort. The list is always one with which the members reach each other.
func TestCoordinatedPeers(t *testing.T) {
	t.Parallel()
	const most = mostWrites + 4
	for at := 1; at <= most; at++ {
		for _, abort := range []bool{false, true} {
			what := fmt.Sprintf("dead at write %d, then abort %t", at, abort)
			t.Run(what, func(t *testing.T) {
				t.Parallel()
				c := newSecured(t)
				before := c.uids()
				_ = c.beginTogether(t, at)
				if at == most && c.Left == 0 {
					t.Error("there are more writes")
				}
				stopped := c.uids()[0] != before[0]
				if n := c.secured(); stopped && n < 2 || !stopped && n > 2 {
					t.Errorf("stopped %t, and %d members have the new URLs", stopped, n)
				}
				if err := c.continueTogether(t, abort, 0); err != nil {
					t.Error(err)
				}
				c.asBefore(t, what)
				want := 3
				if c.uids()[0] == before[0] {
					want = 0
				}
				if n := c.secured(); n != want {
					t.Errorf("%d members have the new URLs, want %d", n, want)
				}
			})
		}
	}
}

// TestAbortedPeers: an --abort that dies while it restores the list is followed by the command without it.
func TestAbortedPeers(t *testing.T) {
	t.Parallel()
	for at := 5; at < 10; at++ {
		for then := 1; then < 5; then++ {
			c := newSecured(t)
			_ = c.beginTogether(t, at)
			_ = c.continueTogether(t, true, then)
			if err := c.continueTogether(t, false, 0); err != nil {
				t.Error(err)
			}
			c.asBefore(t, fmt.Sprintf("dead at write %d, then at %d", at, then))
			if n := c.secured(); n != 0 && n != 3 {
				t.Errorf("dead at write %d, then at %d: %d members have the new URLs", at, then, n)
			}
		}
	}
}

// TestPlanPeers: the plan has the updates, half of them before the stop, and refuses what can't be reached.
func TestPlanPeers(t *testing.T) {
	t.Parallel()
	c := newSecured(t)
	_, plan, err := c.together(t).PlanCoordinated(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	got := strings.Join(plan.Steps, "\n")
	for i, pod := range []string{"main-0", "main-1", "main-2"} {
		step := fmt.Sprintf("update the peer URLs of %s in etcd's member list from http://%s.main-peer.team.svc:2380 to https://%s.main-peer.team.svc:2380", pod, pod, pod)
		at, stop := strings.Index(got, step), strings.Index(got, "set the replicas to 0")
		if at < 0 || (at < stop) != (i < 2) {
			t.Errorf("%s is at %d of\n%s", pod, at, got)
		}
	}
	c.Etcd.Stop("main-1")
	c.Etcd.Stop("main-2")
	if _, plan, err := c.together(t).PlanCoordinated(t.Context()); err == nil || !strings.Contains(err.Error(), "restore the pod template that listens on the listed URLs") {
		t.Errorf("no quorum: %v, %v", plan.Steps, err)
	}
	c = newTogether(t)
	c.together(t)
	c.replaceArgs(secured[:2]...)
	if _, _, err := c.together(t).PlanCoordinated(t.Context()); err == nil || !strings.Contains(err.Error(), "set --initial-advertise-peer-urls in the pod template") {
		t.Errorf("only the listener: %v", err)
	}
	c = newTogether(t)
	c.together(t)
	c.replaceArgs("--listen-peer-urls=http://0.0.0.0:2380", "--listen-peer-urls=$(URLS)")
	if _, plan, err := c.together(t).PlanCoordinated(t.Context()); err != nil || !strings.Contains(strings.Join(plan.Warnings, " "), "write --listen-peer-urls and --initial-advertise-peer-urls") {
		t.Errorf("an unknown variable: %v, %v", plan.Warnings, err)
	}
}

// TestRollingRefusesPeers: one by one, members would lose each other.
func TestRollingRefusesPeers(t *testing.T) {
	t.Parallel()
	for _, only := range []string{"", "main-2"} {
		_, _, err := newSecured(t).job(t).Plan(t.Context(), only)
		if err == nil || !strings.Contains(err.Error(), "kubectl etcd restart statefulset/main -n team --strategy coordinated") {
			t.Errorf("member %q: %v", only, err)
		}
	}
	c := newStage(t)
	j, r := c.begun(t)
	c.replaceArgs(secured...)
	if _, err := j.Run(t.Context(), r); err == nil || !strings.Contains(err.Error(), "on which its next pod doesn't listen") || len(c.evictions()) > 0 {
		t.Errorf("after the plan: %v, evicted %v", err, c.evictions())
	}
}

// TestUpdatePeers: a refused update is an error, and changes nothing.
func TestUpdatePeers(t *testing.T) {
	t.Parallel()
	c := newSecured(t)
	j := c.together(t)
	r, _, err := j.PlanCoordinated(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	s, err := j.observe(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	facts, err := j.coordinated(t.Context(), s, r)
	if err != nil {
		t.Fatal(err)
	}
	if err := j.updatePeers(t.Context(), s, facts); err != nil || c.secured() != 0 {
		t.Errorf("without a mark: %v, %d updated", err, c.secured())
	}
	facts.Mark = facts.Phase
	c.Etcd.Fail = func(string) error { return status.Error(codes.PermissionDenied, "etcdserver: permission denied") }
	if err := j.updatePeers(t.Context(), s, facts); err == nil || c.secured() != 0 {
		t.Errorf("refused: %v, %d updated", err, c.secured())
	}
	c.Etcd.Fail = nil
	if err := j.updatePeers(t.Context(), s, facts); err != nil || c.secured() != 1 {
		t.Errorf("%v, %d updated", err, c.secured())
	}
}

// TestPodsBeside: a pod that no StatefulSet makes would not be created again.
func TestPodsBeside(t *testing.T) {
	t.Parallel()
	j := newStage(t).job(t)
	j.Owner.PodsBeside = []string{"main-x"}
	_, _, rolling := j.Plan(t.Context(), "")
	_, _, coordinated := j.PlanCoordinated(t.Context())
	for _, err := range []error{rolling, coordinated} {
		if err == nil || !strings.Contains(err.Error(), "no StatefulSet creates main-x") || strings.Contains(err.Error(), "--strategy") {
			t.Error(err)
		}
	}
}
