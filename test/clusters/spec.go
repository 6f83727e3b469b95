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

// Flavour is a way in which users run etcd on Kubernetes.
type Flavour string

// The flavours that this package can create.
const (
	// Druid is an Etcd that etcd-druid reconciles.
	Druid Flavour = "druid"
	// Plain is a StatefulSet as in etcd's own documentation.
	Plain Flavour = "plain"
	// Bitnami is a StatefulSet with the names, labels, environment and budget of
	// Bitnami's chart.
	Bitnami Flavour = "bitnami"
)

// versions lists the versions of etcd that StatefulSets can run, by minor release.
var versions = []string{"3.7", "3.6", "3.5", "3.4"}

// Spec describes an etcd cluster to create. With only a flavour, it is a cluster of three
// members without TLS.
type Spec struct {
	Flavour Flavour
	// Size is the number of members; 0 means 3.
	Size int
	// TLS secures client, peer and, with druid, backup traffic, each with client
	// certificates.
	TLS bool
	// Version is etcd's version: 3.7 (or empty), 3.6, 3.5 or 3.4. Druid has its own version, and
	// refuses this.
	Version string
	// StorageClass is the class of the members' volumes. Empty means the Kubernetes cluster's
	// default.
	StorageClass string
	// Ephemeral stores data in an emptyDir. Druid refuses this.
	Ephemeral bool
	// Apart is a topology key for a required anti-affinity of the members. Empty means none, so
	// that the namespace's policy decides.
	Apart string
	// Annotations are set on the Etcd or StatefulSet.
	Annotations map[string]string
	// Budget is the budget for the members' pods. Nil means none for Plain, and the chart's
	// default of maxUnavailable 1 for Bitnami. Druid creates its own, and refuses this.
	Budget *Budget
	// Mutate makes other changes to the StatefulSet before it is applied. Nil changes nothing.
	// Druid creates its own StatefulSet, and refuses this.
	Mutate func(*appsv1.StatefulSet)
	// Progress receives the build messages of images, because a build can take minutes. It may
	// be nil.
	Progress io.Writer

	Certificate CertificateSpec
	Druid       DruidSpec
	Plain       PlainSpec
	Bitnami     BitnamiSpec
}

// Budget has the fields of a PodDisruptionBudget. Both may be set, so that a test can check the
// API server's response.
type Budget struct {
	MinAvailable, MaxUnavailable *intstr.IntOrString
}

// DruidSpec has the fields that only an Etcd supports.
type DruidSpec struct {
	// RunAsRoot runs the members as root. By default they run as user 65532.
	RunAsRoot bool
	// NoBackups omits the backup store, and so the condition BackupReady.
	NoBackups bool
	// Heartbeat is the renewal period of the members' leases. 0 means 10 s.
	Heartbeat time.Duration
	// DeltaPeriod is the time between delta snapshots. 0 means 20 s. BackupReady becomes Unknown
	// after two periods without a snapshot, and False after three.
	DeltaPeriod time.Duration
	// FullSchedule is the cron schedule of full snapshots. Empty means at midnight. BackupReady
	// is Unknown for a moment around each full snapshot, so a short schedule makes tests flaky.
	// Druid always takes the first full snapshot at once.
	FullSchedule string
	// MemberNamePrefix is the prefix of the names of members and leases, but not of pods.
	MemberNamePrefix string
}

// PlainSpec has the fields that only a plain StatefulSet supports.
type PlainSpec struct {
	// Ordered starts the members one after the other. Such a cluster has no readiness probe that
	// needs a quorum, because the first member would wait for the second forever.
	Ordered bool
	// NoProbes omits readiness and liveness probes.
	NoProbes bool
	// Shell starts etcd from a line of shell instead of by arguments.
	Shell bool
	// Like is the product to copy, or empty: see Product. Such a cluster supports neither the
	// other fields of PlainSpec nor a budget, and its data is in an emptyDir.
	Like Product
}

// BitnamiSpec has the fields that only a cluster like Bitnami's chart supports.
type BitnamiSpec struct {
	// Auth gives the members root's password, as the chart does by default. The chart's start
	// script would also enable authentication, but this package doesn't have it: see EnableAuth.
	Auth bool
}

// CertificateSpec describes a faulty certificate with which members serve clients.
type CertificateSpec struct {
	// Names are the names in the certificate. Empty means the correct names.
	Names []string
	// Expired makes the certificate expire before its use.
	Expired bool
	// ServingOnly omits client authentication, which etcd's serving certificate has in most
	// charts.
	ServingOnly bool
}

// withDefaults sets the empty fields.
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

// check refuses a spec that this package can't create.
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

// checkDruid refuses fields that druid chooses.
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
