// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package peers

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
)

// Lead is where the peer URLs of a member in etcd's list lead, compared with those that its pod advertises.
type Lead struct {
	// Wrong is why each of the listed URLs leads to another pod, or to none; nil if one leads to the member's.
	Wrong []string
	// Advertised are the URLs that the pod advertises, without those that surely don't lead to it. At least one leads
	// there. It is only set beside Wrong.
	Advertised []string
}

// LeadOf returns where the peer URLs of a member lead that runs in a pod with a configuration. One URL that leads to
// the pod is enough. The error is why that is not known: a part of the configuration is only known in the pod, or a
// Service, a load balancer or a name outside of the cluster is between. It reads nothing if a URL is one that the pod
// advertises.
func LeadOf(ctx context.Context, r *observe.Reader, pod *corev1.Pod, config etcdconf.Config, listed []string) (Lead, error) {
	if why := config.UnknownPeerURLs(); why != "" {
		return Lead{}, errors.New(why)
	}
	if config.Where["initial-advertise-peer-urls"] == "" {
		return Lead{}, fmt.Errorf("pod %s doesn't show --initial-advertise-peer-urls", pod.Name)
	}
	if slices.ContainsFunc(listed, func(l string) bool { return isIn(l, config.AdvertisePeer) }) {
		return Lead{}, nil
	}
	s, err := newSearch(ctx, r, pod.Namespace)
	if err != nil {
		return Lead{}, err
	}
	if err := s.changed(pod); err != nil {
		return Lead{}, err
	}
	var out Lead
	var unknown error
	for _, text := range listed {
		wrong, err := s.lost(ctx, pod, config, text)
		if err == nil && wrong == "" {
			return Lead{}, nil
		}
		out.Wrong, unknown = append(out.Wrong, wrong), cmp.Or(unknown, err)
	}
	if unknown != nil || len(listed) == 0 {
		return Lead{}, unknown
	}
	out.Advertised, err = s.reaching(ctx, pod, config)
	if err != nil {
		return Lead{}, err
	}
	return out, nil
}

// reaching returns the advertised URLs of a pod without those that surely don't lead to it. The error is why none is
// known to lead there.
func (s *search) reaching(ctx context.Context, pod *corev1.Pod, config etcdconf.Config) (urls []string, why error) {
	proved := false
	for _, text := range config.AdvertisePeer {
		wrong, err := s.lost(ctx, pod, config, text)
		switch {
		case wrong != "":
			why = cmp.Or(why, fmt.Errorf("pod %s advertises %s: %s", pod.Name, text, wrong))
			continue
		case err != nil:
			why = cmp.Or(why, err)
		default:
			proved = true
		}
		urls = append(urls, text)
	}
	if proved {
		return urls, nil
	}
	return nil, cmp.Or(why, fmt.Errorf("pod %s advertises no peer URL", pod.Name))
}

// lost returns why a URL does not lead to the etcd of a pod, empty if it does. The error is why that is not known.
func (s *search) lost(ctx context.Context, pod *corev1.Pod, config etcdconf.Config, text string) (string, error) {
	u, err := url.Parse(text)
	if err != nil || u.Hostname() == "" || u.Scheme != "http" && u.Scheme != "https" {
		return "", fmt.Errorf("the peer URL %q has no address", text)
	}
	wrong, err := s.misses(ctx, pod, config, parseAddress(u.Hostname(), u.Port()))
	if wrong != "" || err != nil {
		return wrong, err
	}
	return refused(pod, config, u)
}

// refused returns why a pod's etcd does not answer other members on the scheme and port of a URL that has the pod's
// host, empty if it does. The error is why that is not known.
func refused(pod *corev1.Pod, config etcdconf.Config, u *url.URL) (string, error) {
	asked := etcdconf.SchemesAndPorts([]string{strings.ToLower(u.Scheme) + "://" + u.Host})
	listens := config.PeerListeners()
	switch {
	case !binds(pod, config, parseAddress(u.Hostname(), u.Port())):
		return "", fmt.Errorf("pod %s listens for peers on %s alone", pod.Name, strings.Join(config.ListenPeer, ","))
	case slices.ContainsFunc(slices.Concat(listens, etcdconf.SchemesAndPorts(config.AdvertisePeer)), func(s string) bool { return slices.Contains(asked, s) }):
		return "", nil
	case config.Where["listen-peer-urls"] == "":
		return "", fmt.Errorf("pod %s doesn't show --listen-peer-urls", pod.Name)
	case !slices.ContainsFunc(config.ListenPeer, func(l string) bool { return !etcdconf.IsLoopback(hostIn(l)) }) || servesBeside(pod):
		return "", fmt.Errorf("another container of pod %s may serve %s", pod.Name, u.String())
	}
	return fmt.Sprintf("pod %s listens for peers on %s", pod.Name, strings.Join(config.ListenPeer, ",")), nil
}

// servesBeside reports whether another program than a pod's etcd may serve its ports: a container beside it, which
// need not declare them, or any of its node.
func servesBeside(pod *corev1.Pod) bool {
	return pod.Spec.HostNetwork || len(pod.Spec.Containers)+len(pod.Spec.InitContainers) > 1
}

// isIn reports whether a URL is one of others in any form.
func isIn(text string, others []string) bool {
	form := etcdconf.CanonicalURL(text)
	return form != "" && slices.ContainsFunc(others, func(o string) bool { return etcdconf.CanonicalURL(o) == form })
}

func hostIn(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		return ""
	}
	return strings.ToLower(strings.TrimSuffix(u.Hostname(), "."))
}
