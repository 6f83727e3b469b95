// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package access

import (
	"net/url"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf"
)

// clusterDomain is Kubernetes' default domain. The URLs that a member advertises can have
// another one.
const clusterDomain = "cluster.local"

// memberNames returns the names that a member's certificate can have: the pod's own, those
// that it advertises, and those of its Services. It returns no short names, since a name
// without a namespace could belong to another cluster.
func memberNames(pod *corev1.Pod, s etcdconf.Config, services []corev1.Service) []string {
	advertised := hosts(s, "advertise-client-urls", s.AdvertiseClient)
	peers := hosts(s, "initial-advertise-peer-urls", s.AdvertisePeer)
	domain := domainOf(slices.Concat(advertised, peers), pod.Namespace)
	var names []string
	add := func(more ...string) {
		for _, name := range more {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	if pod.Spec.Subdomain != "" {
		host := pod.Spec.Hostname
		if host == "" {
			host = pod.Name
		}
		add(qualified(host+"."+pod.Spec.Subdomain, pod.Namespace, domain)...)
	}
	add(advertised...)
	for i := range services {
		add(qualified(services[i].Name, services[i].Namespace, domain)...)
	}
	if pod.Spec.Subdomain != "" {
		add(qualified(pod.Spec.Subdomain, pod.Namespace, domain)...)
	}
	return names
}

// qualified returns the names of a Service, or of a pod below a Service, the longest first.
func qualified(name, namespace, domain string) []string {
	short := name + "." + namespace
	return []string{short + ".svc." + domain, short + ".svc", short}
}

// hosts returns the hosts of the URLs of a setting, without localhost, which identifies no
// member. It returns none if the setting is not set.
func hosts(s etcdconf.Config, setting string, urls []string) []string {
	if s.Where[setting] == "" {
		return nil
	}
	var names []string
	for _, u := range urls {
		parsed, err := url.Parse(u)
		if err != nil || local(parsed.Hostname()) {
			continue
		}
		names = append(names, parsed.Hostname())
	}
	return names
}

// domainOf returns the cluster's domain from names below it.
func domainOf(names []string, namespace string) string {
	for _, name := range names {
		if _, domain, ok := strings.Cut(name, "."+namespace+".svc."); ok && domain != "" {
			return domain
		}
	}
	return clusterDomain
}
