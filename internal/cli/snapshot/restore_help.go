// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package snapshot

import "github.com/kubectl-etcd/kubectl-etcd/internal/cli/ui"

// restoreHelp has the texts of snapshot restore.
var restoreHelp = struct{ Long, Example string }{
	Long: ui.Paragraphs(`
		Restore a snapshot into a cluster. All data of the cluster is replaced, and everything written after
		the snapshot is lost. The command shows how much that is, as far as members answer, and asks for the
		name of the cluster. If members run and none of them answers after several tries, the command
		refuses. It can't save the present data then, and can't check that the new revision is above all
		that clients have seen. --allow-unsaved allows it for members that can never answer again.

		If FILE.json exists beside the snapshot and shows that it is of another cluster, the command warns.
		-y does not confirm that: use --from-other-cluster with it. A cluster of the same name is another
		one if both of these are true:

		  - The UID of its object differs.
		  - Its etcd cluster ID differs, or the present object existed when the snapshot was taken.

		If only one of the IDs differs, the cluster may have been restored or created again since: the
		command only warns. In both cases, it does not count what is lost, because revisions of two etcd
		clusters can't be compared.

		For a StatefulSet, the command checks the snapshot, makes the data directories on your machine,
		cuts client traffic, and saves the present data if a member answers. Then it stops all members,
		renames the old data in the volumes, copies the new data, and starts the members as a new cluster.
		When all members have one cluster ID and equal data, it restores client traffic. For
		a druid cluster, it copies the snapshot into the backup store, from which the sidecars
		restore it. The commands are those that snapshot restore-plan prints.

		The command needs etcdutl of the members' minor release on your machine, and room for the data
		of all members. If one of them is missing, it ends before any member stops. The restore raises
		the revision by 1000000000 and marks all revisions before it as compacted, so that clients
		with watches notice the change of the data. To prevent that, use --bump-revision 0.

		The command keeps its progress in ConfigMap kubectl-etcd-NAME. After an interruption, run the
		same command again to continue, or use --abort to start the members on their old data again.
		--abort is possible until clients can connect again, or until the volume claim of a member is replaced.

		A cut of client traffic that was there before stays in force until its own end.

		A restore keeps the old data under another name, and records it on the cluster. --discard lists the
		old data of all restores, asks for the name of the cluster, and deletes it. It refuses while a change
		is unfinished or the cluster is not healthy. --keep-old-for sets a deadline, after which
		kubectl etcd sweep --remove deletes it, too. Nothing deletes it automatically.

		The command refuses to begin while a member, or the volume of one without a pod, is on a node that
		is not Ready: the member could go on as the old cluster. It also refuses if no node can start a
		member with its volume, or enough members at the same time. If the volume is lost for good, declare
		its pod with --lost: the member then gets a new volume.

		The command never chooses a snapshot. It doesn't stop other writers of the StatefulSet, such as Helm
		or GitOps: keep them away while it runs. It doesn't restart clients.`),
	Example: ui.Examples(`
		# Show what a restore would do
		kubectl etcd snapshot restore main.db etcd-main --dry-run=server

		# Restore a snapshot
		kubectl etcd snapshot restore main.db etcd-main --reason "bad migration"

		# Restore from a bucket, with the credentials of the environment
		kubectl etcd snapshot restore s3://backups/team-a/main.db etcd-main

		# The node of a member and its disk are lost: restore that member into a new volume
		kubectl etcd snapshot restore main.db etcd-main --lost etcd-main-2

		# Start the members on their old data again
		kubectl etcd snapshot restore etcd-main --abort

		# Restore, and let sweep delete the old data after a week
		kubectl etcd snapshot restore main.db etcd-main --keep-old-for 168h

		# Show the old data that restores keep, then delete it
		kubectl etcd snapshot restore etcd-main --discard --dry-run=client
		kubectl etcd snapshot restore etcd-main --discard`),
}
