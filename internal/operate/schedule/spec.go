// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

// Package schedule makes, changes and deletes a CronJob that saves snapshots of a cluster on a
// StatefulSet to a store. The CronJob renews a Lease after each verified snapshot. The annotations of
// the StatefulSet name the Lease, so BackupReady becomes False if a run fails or does not start.
package schedule

import (
	"fmt"
	"hash/fnv"
	"strconv"
	"time"

	"github.com/kubectl-etcd/kubectl-etcd/internal/blob"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// Spec is what the user asks for.
type Spec struct {
	Every time.Duration
	Keep  int
	To    blob.Location
	Image string
	// Secret has the credentials for the store. It may be empty. Its keys are environment variables, or, for Google
	// Cloud Storage, credentials.json is the file of the credentials.
	Secret string
	// CA is the ConfigMap whose key ca.crt has the certificate authorities of the store. It may be empty.
	CA string
	// Claim is the PersistentVolumeClaim that is mounted at the directory of To. It is empty for a bucket.
	Claim string
	// Args are more arguments of snapshot save, and Secrets the Secrets that these name.
	Args, Secrets []string
}

// ParseTo returns the folder that a user names for the snapshots.
func ParseTo(url string) (blob.Location, error) {
	if !blob.IsURL(url) {
		return blob.Location{}, fmt.Errorf("--to %q is not a URL: use s3://BUCKET/PREFIX, gs://BUCKET/PREFIX, azblob://CONTAINER/PREFIX?storage_account=ACCOUNT or file:///DIRECTORY", url)
	}
	return blob.ParseFolder(url)
}

// intervals are the times between two snapshots that a cron schedule can express.
const intervals = "5m, 10m, 15m, 20m, 30m, 1h, 2h, 3h, 4h, 6h, 8h, 12h, 24h or 168h"

// cron returns the schedule in UTC. The minute depends on the name, so that not all clusters are saved at
// the same time.
func cron(every time.Duration, name string) (string, error) {
	sum := fnv.New32a()
	_, _ = sum.Write([]byte(name)) // never fails
	minute, hour := sum.Sum32()%60, sum.Sum32()/60%6
	minutes, hours := int(every/time.Minute), int(every/time.Hour)
	switch {
	case every == 7*24*time.Hour:
		return fmt.Sprintf("%d %d * * 0", minute, hour), nil
	case every == 24*time.Hour:
		return fmt.Sprintf("%d %d * * *", minute, hour), nil
	case every == time.Hour:
		return fmt.Sprintf("%d * * * *", minute), nil
	case hours > 1 && hours < 24 && 24%hours == 0 && every%time.Hour == 0:
		return fmt.Sprintf("%d */%d * * *", minute, hours), nil
	case minutes >= 5 && minutes < 60 && 60%minutes == 0 && every%time.Minute == 0:
		return fmt.Sprintf("*/%d * * * *", minutes), nil
	}
	return "", fmt.Errorf("--every %s: choose one of %s", policy.Duration(every), intervals)
}

// Deadline returns how long a run may take, with its retry.
func (s Spec) Deadline() time.Duration { return min(s.Every*4/5, time.Hour) }

// MaxAge returns the age of the last snapshot from which backups count as failed: the next one should be done.
func (s Spec) MaxAge() time.Duration { return s.Every + s.Deadline() }

// Validate returns what is wrong with the request.
func (s Spec) Validate(name string) error {
	if _, err := cron(s.Every, name); err != nil {
		return err
	}
	file, local := s.To.File()
	switch {
	case s.Keep < 1:
		return fmt.Errorf("--keep is %d, and must be at least 1", s.Keep)
	case local && s.Claim == "":
		return fmt.Errorf("%s is a directory: add --claim with the PersistentVolumeClaim to mount there", s.To)
	case local && (file == "/" || file == "/tmp"):
		return fmt.Errorf("%s can't be a mounted volume: use a directory such as file:///backup", s.To)
	case !local && s.Claim != "":
		return fmt.Errorf("--claim is only for a directory: %s is a bucket", s.To)
	case local && s.CA != "":
		return fmt.Errorf("--store-ca is only for a bucket: %s is a directory", s.To)
	case s.Image == "":
		return fmt.Errorf("this build of the plugin has no image: add --image with one whose entrypoint is kubectl-etcd")
	}
	return nil
}

// longest is the longest name of a CronJob.
const longest = 52

// Name returns the name of all objects of the schedule of a StatefulSet.
func Name(statefulSet string) string {
	name := "etcd-backup-" + statefulSet
	if len(name) <= longest {
		return name
	}
	sum := fnv.New32a()
	_, _ = sum.Write([]byte(statefulSet)) // never fails
	suffix := "-" + strconv.FormatUint(uint64(sum.Sum32()), 36)
	return name[:longest-len(suffix)] + suffix
}
