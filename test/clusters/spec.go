// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package clusters

import (
	"fmt"
	"io"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// Flavour is a way in which people run etcd on Kubernetes.
type Flavour string

// The flavours that can be made here.
const (
	// Druid is an Etcd that the real etcd-druid reconciles.
	Druid Flavour = "druid"
	// Plain is a StatefulSet as in etcd's own documentation.
	Plain Flavour = "plain"
	// Bitnami is a StatefulSet with the names, labels, environment and budget of
	// Bitnami's chart.
	Bitnami Flavour = "bitnami"
)

// versions of etcd that StatefulSets can run, by their minor release.
var versions = []string{"3.7", "3.6", "3.5", "3.4"}

// Spec describes an etcd cluster to create. Its zero value but for the flavour is a
// cluster of three members without TLS.
type Spec struct {
	Flavour Flavour
	// Size is the number of members; 0 means 3.
	Size int
	// TLS secures client, peer and, with druid, backup traffic, each with client
	// certificates.
	TLS bool
	// Version of etcd: 3.7 (or empty), 3.6, 3.5 or 3.4. Druid has its own, and refuses this.
	Version string
	// StorageClass of the members' volumes; empty means the cluster's default.
	StorageClass string
	// Ephemeral keeps data in an emptyDir. Druid refuses this.
	Ephemeral bool
	// Apart is a topology key over which members have a required anti-affinity.
	// Empty means none, which leaves the choice to the policy of the
	// namespace.
	Apart string
	// Annotations of the Etcd or StatefulSet.
	Annotations map[string]string
	// Budget of the members' pods. Nil means none for Plain and the chart's default
	// of maxUnavailable 1 for Bitnami. Druid makes its own, and refuses this.
	Budget *Budget
	// Mutate changes the StatefulSet before it is applied, where nothing above does. Nil
	// changes nothing; druid, which makes its own, refuses this.
	Mutate func(*appsv1.StatefulSet)
	// Progress receives what images are built, which can take minutes. It may be nil.
	Progress io.Writer

	Certificate CertificateSpec
	Druid       DruidSpec
	Plain       PlainSpec
	Bitnami     BitnamiSpec
}

// Budget is what a PodDisruptionBudget allows. Both fields may be set: the
// answer of the API server to that is worth a test.
type Budget struct {
	MinAvailable, MaxUnavailable *intstr.IntOrString
}

// DruidSpec is what only an Etcd can have.
type DruidSpec struct {
	// RunAsRoot runs the members as root. By default they run as user 65532.
	RunAsRoot bool
	// NoBackups leaves the backup store away: no condition BackupReady.
	NoBackups bool
	// Heartbeat is the period of the members' leases; 0 means 10 s.
	Heartbeat time.Duration
	// DeltaPeriod is the time between delta snapshots; 0 means 20 s. BackupReady
	// turns Unknown after twice and False after three times this.
	DeltaPeriod time.Duration
	// FullSchedule is the cron schedule of full snapshots; empty means at midnight.
	// Around each of them BackupReady is Unknown for a moment, so a short schedule
	// makes tests unsteady. The first one is always taken at once.
	FullSchedule string
	// MemberNamePrefix goes before the names of members and leases, not of pods.
	MemberNamePrefix string
}

// PlainSpec is what only a plain StatefulSet can have.
type PlainSpec struct {
	// Ordered starts the members one after the other. Such a cluster can't have a
	// readiness probe that asks for quorum, since the first member would wait for
	// the second for ever: it has none.
	Ordered bool
	// NoProbes leaves readiness and liveness probes away.
	NoProbes bool
	// Shell starts etcd from a line of shell rather than by arguments.
	Shell bool
	// Like is whose manifests it copies, empty for none: see Product. What else is
	// in PlainSpec, and a budget, such a cluster can't have, and its data is in an
	// emptyDir.
	Like Product
}

// BitnamiSpec is what only a cluster like Bitnami's chart can have.
type BitnamiSpec struct {
	// Auth gives the members root's password, as the chart does by default. The
	// chart's start script, which isn't here, would switch authentication on:
	// see EnableAuth.
	Auth bool
}

// CertificateSpec is what is wrong with the certificate that members serve clients with.
type CertificateSpec struct {
	// Names are those that it has; none means those that it should have.
	Names []string
	// Expired makes it end before it is used.
	Expired bool
	// ServingOnly leaves clients' use away, which etcd's own has in most charts.
	ServingOnly bool
}

// withDefaults fills what the caller left open.
func (s Spec) withDefaults() Spec {
	if s.Size == 0 {
		s.Size = 3
	}
	if s.Version == "" && s.Flavour != Druid {
		s.Version = "3.7"
	}
	if s.Budget == nil && s.Flavour == Bitnami {
		one := intstr.FromInt32(1)
		s.Budget = &Budget{MaxUnavailable: &one}
	}
	if p, ok := products[s.Plain.Like]; ok {
		s.TLS, s.Ephemeral = s.TLS || p.secured, true
	}
	if s.Druid.Heartbeat == 0 {
		s.Druid.Heartbeat = 10 * time.Second
	}
	if s.Druid.DeltaPeriod == 0 {
		s.Druid.DeltaPeriod = 20 * time.Second
	}
	if s.Druid.FullSchedule == "" {
		s.Druid.FullSchedule = "0 0 * * *"
	}
	return s
}

// check refuses what can't be made.
func (s Spec) check() error {
	switch {
	case s.Flavour != Druid && s.Flavour != Plain && s.Flavour != Bitnami:
		return fmt.Errorf("no flavour is called %q; known are %q", s.Flavour, []Flavour{Druid, Plain, Bitnami})
	case s.Size < 0:
		return fmt.Errorf("a cluster can't have %d members", s.Size)
	case s.Version != "" && !slices.Contains(versions, s.Version):
		return fmt.Errorf("no version %q of etcd; there are %q", s.Version, versions)
	case s.Flavour != Druid && s.Druid != (DruidSpec{}):
		return fmt.Errorf("flavour %s has nothing of druid's", s.Flavour)
	case s.Flavour != Plain && s.Plain != (PlainSpec{}):
		return fmt.Errorf("flavour %s has nothing of a plain StatefulSet's", s.Flavour)
	case s.Flavour != Bitnami && s.Bitnami != (BitnamiSpec{}):
		return fmt.Errorf("flavour %s has nothing of Bitnami's", s.Flavour)
	case s.Plain.Like != "":
		return s.checkProduct()
	case s.Flavour == Druid:
		return s.checkDruid()
	}
	return nil
}

// checkDruid refuses what is druid's to choose.
func (s Spec) checkDruid() error {
	switch {
	case s.Version != "":
		return fmt.Errorf("druid chooses the version of etcd: leave %q away", s.Version)
	case s.Ephemeral:
		return fmt.Errorf("druid gives every member a volume: an Etcd can't be ephemeral")
	case s.Budget != nil:
		return fmt.Errorf("druid makes the budget of an Etcd itself")
	case s.Mutate != nil:
		return fmt.Errorf("druid makes the StatefulSet of an Etcd itself")
	}
	return nil
}
