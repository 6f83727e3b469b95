// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package snapshot

import "github.com/kubectl-etcd/kubectl-etcd/internal/cli/ui"

// saveHelp has the texts of snapshot save.
var saveHelp = struct{ Long, Example string }{
	Long: ui.Paragraphs(`
		Save a snapshot of one member, by default of a healthy follower. The command downloads it
		through the API server.

		The command verifies a snapshot before FILE appears: the SHA-256 of the member must match,
		all pages of the database must be readable and in order, and all data must be on disk.
		Until then, the file is FILE.part. On an error or Ctrl-C, the command removes it.
		FILE.json records the origin of the snapshot. Without FILE, the name consists of the
		cluster and the time. A failed transfer is retried from another member.

		A URL is s3://BUCKET/PREFIX/NAME.db, gs://BUCKET/PREFIX/NAME.db,
		azblob://CONTAINER/PREFIX/NAME.db?storage_account=ACCOUNT, or file:///DIRECTORY/NAME.db. If the path
		ends with a slash, the name consists of the cluster, its UID and the time. For a store with the
		API of S3 that is not AWS, add ?endpoint=https://HOST:PORT. The credentials come from where the
		provider's own tools also find them: the environment, files, or the role of the machine. The
		command verifies the snapshot in a temporary file, and uploads it. Then it reads the
		object back and compares it. If that fails, it deletes the object. --keep deletes the oldest
		snapshots that this command has stored there for the same cluster. --renew-lease is for
		backup jobs, and records the backup in a Lease.

		With -, the snapshot goes to stdout. Then the command can only verify the SHA-256: the
		output is a snapshot only if the exit code is 0. To check the database itself, use
		snapshot status on the file in which you store it.

		In the cluster, the command changes only the Lease of --renew-lease, and takes no lock. It
		refuses to run while kubectl etcd defrag runs. That command refuses to run while a snapshot is
		read.

		With --via backup-restore, the sidecar of a druid cluster writes a snapshot to the backup
		store. This is a change with a plan, a lock and an Event. The flags --dry-run and --reason
		are only for it. Without it, there is nothing to confirm, and --yes has no effect.`),
	Example: ui.Examples(`
		# Save a snapshot to a file with a generated name
		kubectl etcd snapshot save etcd-main

		# Save a snapshot of a specific member
		kubectl etcd snapshot save etcd-main /backup/main.db --member etcd-main-2

		# Save a snapshot to a bucket, and keep the last seven there
		kubectl etcd snapshot save etcd-main s3://backups/team-a/ --keep 7

		# Compress the snapshot. With pipefail, the shell returns the exit code of a failed save
		set -o pipefail; kubectl etcd snapshot save etcd-main - | zstd > main.db.zst

		# Let druid's backup-restore save the changes since its last snapshot
		kubectl etcd snapshot save etcd-main --via backup-restore=delta -y`),
}
