// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package scale

import "fmt"

// wayOfRestart returns how a coordinated restart is ended or continued, as a clause. The end comes
// first: it also finds out whether there is a restart, and continuing one stops the members.
func (f Facts) wayOfRestart() string {
	command := fmt.Sprintf("kubectl etcd restart %s -n %s", f.Target, f.Namespace)
	return fmt.Sprintf("end it: %s --abort; if that finds no restart to end, remove the mark: kubectl annotate statefulset %s -n %s kubectl-etcd.dev/restart-; or continue it: %s --strategy coordinated",
		command, f.Marked, f.Namespace, command)
}

// wayOfRestore returns how a restore is ended or continued, as a clause. The command that ends it also finds out
// whether there is one.
func (f Facts) wayOfRestore() string {
	return fmt.Sprintf("continue it: kubectl etcd status %[1]s -n %[2]s shows the command with its snapshot; or end it: kubectl etcd snapshot restore %[1]s -n %[2]s --abort; "+
		"if that finds no restore to end, remove the mark: kubectl annotate statefulset %[3]s -n %[2]s kubectl-etcd.dev/restore-", f.Target, f.Namespace, f.Marked)
}
