// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package restart

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/podfiles"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
	rules "github.com/kubectl-etcd/kubectl-etcd/policy/restart"
)

// peers is what is known of a member's peer URLs.
type peers struct {
	id uint64
	// listed are those in etcd's list, and due those that the list is to get, none if it has the right ones.
	listed, due []string
	// served is true if its pod of now listens on what the due URLs are for.
	served bool
	// contradiction is why its configuration has no right ones, and unknown why they are not known.
	contradiction, unknown string
}

// readPeers compares etcd's list with the peer URLs of the next pods, or of the pods that there are. No result
// has those of a member that the list doesn't have.
func (j *Job) readPeers(ctx context.Context, s *state, list []etcd.Listed, next bool) (map[string]peers, error) {
	files := podfiles.New(j.Reader, j.Owner.Namespace)
	all := map[string]peers{}
	for _, l := range list {
		at := slices.IndexFunc(s.pods, func(p *corev1.Pod) bool { return p.Name == l.Pod })
		if at < 0 {
			continue
		}
		now, nowErr := files.Config(ctx, s.pods[at])
		due, err := now, nowErr
		if next {
			due, err = files.Config(ctx, j.nextPod(s, s.pods[at]))
		}
		p := peers{id: l.ID, listed: l.PeerURLs}
		if err != nil {
			if notRead(ctx, err) {
				return nil, err
			}
			p.unknown = err.Error()
		} else {
			p.compare(now, nowErr == nil, due)
		}
		all[l.Pod] = p
	}
	return all, nil
}

// compare compares the list with a configuration. now is the one of the pod that runs, if that was read.
func (p *peers) compare(now etcdconf.Config, read bool, due etcdconf.Config) {
	due.AdvertisePeer = withListedHosts(due.AdvertisePeer, p.listed)
	if p.unknown = unknownPeerURLs(due, p.listed); p.unknown != "" {
		return
	}
	now.AdvertisePeer = due.AdvertisePeer // only its listeners count
	p.served = read && unknownPeerURLs(now, p.listed) == "" && slices.Equal(now.PeerListeners(), due.PeerListeners())
	p.due, p.contradiction = duePeerURLs(p.listed, due, p.served)
}

// unknownPeerURLs returns why the peer URLs of a configuration are not known, empty if they are. Unless it is
// configured, etcd listens on the loopback address, where no other member reaches it. So a program or a file
// that the pod doesn't show configures it then.
func unknownPeerURLs(c etcdconf.Config, listed []string) string {
	for _, flag := range []string{"listen-peer-urls", "initial-advertise-peer-urls"} {
		if why := c.Unknown[flag]; why != "" {
			return "--" + flag + ": " + why
		}
	}
	if c.Where["listen-peer-urls"] == "" && slices.ContainsFunc(listed, func(u string) bool { return etcdconf.Peer{URL: u}.Identifies() }) {
		return "the pod doesn't show --listen-peer-urls"
	}
	for _, text := range c.AdvertisePeer {
		if hostOf(text) == "" && c.Where["initial-advertise-peer-urls"] != "" {
			return "only the pod has the host of " + text
		}
	}
	return c.UnknownPeerURLs()
}

// withListedHosts returns the URLs that a member advertises, with the listed host where theirs is the IP of a
// pod: the next pod has another one, which is not known yet, and etcd ignores the host of a member with data.
func withListedHosts(advertised, listed []string) []string {
	if len(advertised) != 1 || len(listed) != 1 || isAddress(hostOf(listed[0])) {
		return advertised
	}
	if host := hostOf(advertised[0]); host != "" && !isAddress(host) {
		return advertised
	}
	to, err := url.Parse(advertised[0])
	if err != nil {
		return advertised
	}
	from, _ := url.Parse(listed[0]) // hostOf has parsed it
	to.Host = strings.TrimSuffix(net.JoinHostPort(from.Hostname(), to.Port()), ":")
	return []string{to.String()}
}

// hostOf returns the host of a URL, empty without one.
func hostOf(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		return ""
	}
	return u.Hostname()
}

// isAddress reports whether a host is no name, which stays the same for the next pod.
func isAddress(host string) bool {
	_, err := netip.ParseAddr(host)
	return err == nil || host == ""
}

// listing returns etcd's list, without a quorum that of the first member that answers.
func (s *state) listing(ctx context.Context, members *etcd.Cluster) []etcd.Listed {
	if s.survey.ListErr == nil {
		return s.survey.List
	}
	for _, m := range s.survey.Members {
		if m.ID == 0 {
			continue
		}
		if list, err := members.OwnList(ctx, m.Pod); err == nil {
			return list
		}
	}
	return nil
}

// nextPod returns the pod that a StatefulSet's controller creates after a pod has stopped.
func (j *Job) nextPod(s *state, pod *corev1.Pod) *corev1.Pod {
	at := slices.IndexFunc(s.sets, func(sts *appsv1.StatefulSet) bool { return sts.Name == j.setOf(pod.Name) })
	if at < 0 {
		return pod
	}
	sts := s.sets[at]
	u := sts.Spec.UpdateStrategy.RollingUpdate
	if u != nil && u.Partition != nil && owner.OfStatefulSet(sts).Ordinal(pod.Name) < int(*u.Partition) {
		return pod // the partition keeps its template
	}
	return etcdconf.NextPod(sts, &sts.Spec.Template, pod.Name)
}

func schemes(urls []string) []string {
	var all []string
	for _, text := range urls {
		scheme, _, _ := strings.Cut(text, ":")
		all = append(all, scheme)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

func meet(a, b []string) bool {
	return slices.ContainsFunc(a, func(s string) bool { return slices.Contains(b, s) })
}

// duePeerURLs returns the peer URLs that etcd's list is to get for a member with a configuration, none if
// others reach it by those that are listed. etcd ignores --initial-advertise-peer-urls of a member with data,
// so another host in it means nothing. same is true if the member listens on the same as before: then a port
// or TLS of a proxy may be between.
func duePeerURLs(listed []string, c etcdconf.Config, same bool) (due []string, contradiction string) {
	advertised := slices.Sorted(slices.Values(c.AdvertisePeer))
	stays := slices.Equal(advertised, slices.Sorted(slices.Values(listed)))
	listens := schemes(c.ListenPeer)
	switch {
	case meet(etcdconf.SchemesAndPorts(listed), c.PeerListeners()), stays && (same || meet(schemes(listed), listens)):
		return nil, ""
	case c.Where["initial-advertise-peer-urls"] == "":
		return nil, fmt.Sprintf("it listens for peers on %s, etcd's member list has %s, and --initial-advertise-peer-urls is not set", strings.Join(c.ListenPeer, ","), strings.Join(listed, ","))
	case !meet(schemes(advertised), listens):
		return nil, fmt.Sprintf("it listens for peers on %s, and --initial-advertise-peer-urls is %s", strings.Join(c.ListenPeer, ","), strings.Join(c.AdvertisePeer, ","))
	}
	return advertised, ""
}

// addPeers adds what the rule must know of the peer URLs.
func (j *Job) addPeers(ctx context.Context, s *state, c *rules.Coordinated) (err error) {
	list := s.listing(ctx, j.members)
	if c.PeersUnread = len(list) == 0; c.PeersUnread {
		s.moving, err = j.movingPods(ctx, s)
		return err
	}
	if s.peers, err = j.readPeers(ctx, s, list, c.ByNextPods()); err != nil {
		return err
	}
	own, err := j.members.OwnLists(ctx, s.survey.Members)
	if err != nil {
		return err
	}
	for i := range c.Members {
		m := &c.Members[i]
		p := s.peers[m.Pod]
		m.PeersDiffer, m.PeersServed = len(p.due) > 0, len(p.due) > 0 && p.served
		for pod, list := range own {
			c.PeersLag = c.PeersLag || s.healthy(pod) && p.differs(list)
		}
	}
	return nil
}

// movingPods returns the pods whose next pods are known to listen for peers on no scheme and port on which they
// listen.
func (j *Job) movingPods(ctx context.Context, s *state) (names []string, err error) {
	files := podfiles.New(j.Reader, j.Owner.Namespace)
	for _, pod := range s.pods {
		now, nowErr := files.Config(ctx, pod)
		next, nextErr := files.Config(ctx, j.nextPod(s, pod))
		if err := cmp.Or(nowErr, nextErr); err != nil {
			if notRead(ctx, err) {
				return nil, err
			}
			continue
		}
		known := now.Unknown["listen-peer-urls"] == "" && next.Unknown["listen-peer-urls"] == ""
		if before, after := now.PeerListeners(), next.PeerListeners(); known && len(before) > 0 && len(after) > 0 && !meet(before, after) {
			names = append(names, pod.Name)
		}
	}
	return names, nil
}

// differs reports whether a list has other peer URLs of the member than the one with a quorum.
func (p peers) differs(list []etcd.Listed) bool {
	return slices.ContainsFunc(list, func(l etcd.Listed) bool {
		return l.ID == p.id && !slices.Equal(slices.Sorted(slices.Values(l.PeerURLs)), slices.Sorted(slices.Values(p.listed)))
	})
}

func (s *state) healthy(pod string) bool {
	return slices.ContainsFunc(s.Members, func(m rules.Member) bool { return m.Pod == pod && m.Trouble == "" })
}

// updatePeers has etcd's list get the due peer URLs of the next member.
func (j *Job) updatePeers(ctx context.Context, s *state, c rules.Coordinated) error {
	at, ok := c.NextUpdate()
	via := slices.IndexFunc(c.Members, func(m rules.Member) bool { return m.Trouble == "" })
	if !ok || via < 0 {
		return nil // it is decided again
	}
	pod := c.Members[at].Pod
	p := s.peers[pod]
	client, err := j.members.Client(ctx, c.Members[via].Pod)
	if err != nil {
		return err
	}
	if _, err := client.MemberUpdate(ctx, p.id, p.due); err != nil {
		return fmt.Errorf("update the peer URLs of %s: %w", pod, err)
	}
	j.Logf("the peer URLs of %s in etcd's member list are %s", pod, strings.Join(p.due, ","))
	return nil
}

// planPeers returns the updates of peer URLs in a coordinated restart.
func planPeers(s *state, c rules.Coordinated) (steps []string) {
	for _, at := range c.UpdateOrder() {
		pod := c.Members[at].Pod
		p := s.peers[pod]
		steps = append(steps, fmt.Sprintf("update the peer URLs of %s in etcd's member list from %s to %s", pod, strings.Join(p.listed, ","), strings.Join(p.due, ",")))
	}
	return steps
}

// unreachable is the refusal of a next pod whose configuration contradicts itself.
func (p peers) unreachable(pod string) string {
	return fmt.Sprintf("the next pod of %s can't be reached by other members: %s; set --initial-advertise-peer-urls in the pod template to the URL by which others reach it", pod, p.contradiction)
}

// checkPeers refuses next pods that others can't reach by any peer URL, and warns of those that are not known.
func (s *state) checkPeers(f *operate.Findings) {
	unknown := ""
	for _, m := range s.Members {
		p := s.peers[m.Pod]
		unknown = cmp.Or(unknown, p.unknown)
		if p.contradiction != "" {
			f.Refuse("%s", p.unreachable(m.Pod))
		}
	}
	if len(s.moving) > 0 {
		f.Warn("etcd's member list can't be read, and the next pods of %s listen for peers on other schemes or ports. If the list has the URLs of before, they don't reach each other: bring a member back that answers, or restore the pod template first.", policy.List(s.moving))
	}
	if unknown != "" {
		f.Warn("It is not known which peer URLs the next pods have (%s), so those in etcd's member list stay. If the change is of their scheme or port, write --listen-peer-urls and --initial-advertise-peer-urls into the pod template first.", unknown)
	}
}

// refusePeers refuses to restart a member alone if others can't reach its next pod by the URLs in etcd's list, and
// reach its pod of now. A program that manages the members may update them itself, and a single member has no others.
func (j *Job) refusePeers(ctx context.Context, s *state, only []string, f *operate.Findings) error {
	if managed := j.notCoordinated(); len(s.Members) < 2 || managed != "" && !j.Owner.InParts() {
		return nil
	}
	all, err := j.readPeers(ctx, s, s.listing(ctx, j.members), true)
	if err != nil {
		return err
	}
	for _, pod := range only {
		p := all[pod]
		switch {
		case p.served, p.contradiction == "" && len(p.due) == 0: // the pod listens as before, or is reached
			continue
		case p.contradiction != "":
			f.Refuse("%s", p.unreachable(pod))
			return nil
		}
		way := fmt.Sprintf("restart all members at once, which updates the list: kubectl etcd restart %s -n %s --strategy coordinated", j.Owner.Target(), j.Owner.Namespace)
		if j.Owner.InParts() {
			way = "restore the scheme and port that the pod template had: members in several StatefulSets can't be restarted at once"
		}
		f.Refuse("etcd's member list has the peer URL %s of %s, on which its next pod doesn't listen, so the others would not reach it; %s", strings.Join(p.listed, ","), pod, way)
		return nil
	}
	return nil
}

// notePeers notes the peer URLs that stay different at the end of --abort.
func (j *Job) notePeers(s *state, c rules.Coordinated) {
	if c.Abort && c.PeersUnread && len(c.Members) > 1 {
		j.notes = append(j.notes, policy.NewNote(rules.PeersUpdated, "etcd's member list can't be read, so it is not known whether it has the peer URLs of the pods; when there is a quorum, this updates it where it differs: kubectl etcd restart %s -n %s --strategy coordinated",
			j.Owner.Target(), j.Owner.Namespace))
	}
	if !c.Abort || !c.PeersDiffer() {
		return
	}
	var updates []string
	for _, at := range c.UpdateOrder() {
		if p := s.peers[c.Members[at].Pod]; len(p.due) > 0 {
			updates = append(updates, fmt.Sprintf("etcdctl member update %s --peer-urls=%s", etcd.HexID(p.id), strings.Join(p.due, ",")))
		}
	}
	if len(updates) > 0 {
		j.notes = append(j.notes, policy.NewNote(rules.PeersUpdated, "etcd's member list has other peer URLs than the pods, and can't be changed without a quorum; when there is one: %s", strings.Join(updates, "; ")))
	}
}
