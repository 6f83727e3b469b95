// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package restore

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/version"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

const (
	// notifyDefault is how often etcd sends progress notifications if no flag has it, and notifyLongest the upper end of what
	// KEP-1904 recommends.
	notifyDefault = 10 * time.Minute
	notifyLongest = 10 * time.Second

	notifyFlag = "watch-progress-notify-interval"
)

// notifyInterval returns how often a member sends progress notifications to watches without events. It is 0 if that is
// not known, as for a member whose settings only its pod has.
func notifyInterval(c etcdconf.Config) time.Duration {
	if c.Unknown[notifyFlag] != "" || c.Unknown["experimental-"+notifyFlag] != "" {
		return 0
	}
	if c.ProgressNotifyInterval == "" {
		return notifyDefault
	}
	interval, err := time.ParseDuration(c.ProgressNotifyInterval)
	if err != nil { // a configuration file may have nanoseconds
		interval, _ = time.ParseDuration(c.ProgressNotifyInterval + "ns")
	}
	return interval
}

// warnOfAPIServers warns where the etcd of Kubernetes API servers makes their restart expensive, which comes after a
// restore: all clients then read again at once.
func (r Plan) warnOfAPIServers(warn func(format string, args ...any)) {
	if !r.Snapshot.Registry {
		return
	}
	if why := append(r.rarelyNotifies(), r.noCachedLists()...); len(why) > 0 {
		warn("the snapshot has objects of a Kubernetes API server, whose clients read again after the restore: %s", strings.Join(why, "; "))
	}
}

// rarelyNotifies returns why clients of an API server that restarts can't continue their watches (KEP-1904).
func (r Plan) rarelyNotifies() []string {
	if r.NotifyInterval <= notifyLongest {
		return nil
	}
	cure := "kubeadm sets --" + notifyFlag + "=5s"
	v, err := version.ParseGeneric(r.Etcd)
	switch {
	case err == nil && v.LessThan(version.MustParseGeneric("3.4.11")):
		cure = "etcd has a flag for that from 3.4.11 on"
	case err == nil && v.LessThan(version.MustParseGeneric("3.6.0")):
		cure = "kubeadm sets --experimental-" + notifyFlag + "=5s"
	}
	return []string{fmt.Sprintf("etcd sends progress notifications only every %s, so clients of an API server that restarts may read everything again instead of continuing their watches (%s)",
		policy.Duration(r.NotifyInterval), cure)}
}

// noCachedLists returns why API servers don't serve consistent lists from their caches (KEP-2340).
func (r Plan) noCachedLists() []string {
	v, err := version.ParseGeneric(r.Etcd)
	if err != nil || v.Major() != 3 {
		return nil
	}
	first := map[uint]string{4: "3.4.31", 5: "3.5.13"}[v.Minor()]
	if v.Minor() > 5 || first != "" && v.AtLeast(version.MustParseGeneric(first)) {
		return nil
	}
	return []string{fmt.Sprintf("etcd %s is older than %s, so API servers read consistent lists from etcd and not from their caches", r.Etcd, cmp.Or(first, "3.4.31"))}
}
