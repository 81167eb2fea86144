/** The commands of the views that explain why nothing moves and why a breakpoint is not hit. */

import * as vscode from 'vscode';

import { ClusterConnection } from '../model/cluster-connection';
import type { FindingRow } from '../text/finding-rows';
import { ofKnownRows, type Commands } from './commands';
import type { DebugSessions } from './debug-sessions';
import type { DoctorTree } from './doctor-tree';
import { ProblemElement } from './tree-elements';
import type { WaitsTree } from './waits-tree';

export function whyCommands(sessions: DebugSessions, waits: WaitsTree, doctor: DoctorTree): Commands {
  /** Return a command that is called with the cluster of its row, else with the one that is debugged or chosen. */
  const onCluster =
    (run: (connection: ClusterConnection | undefined) => Promise<void>) =>
    async (row?: unknown): Promise<void> => {
      const all = sessions.current === undefined ? sessions.registry.all : [sessions.current];
      const ofRow = row instanceof ProblemElement ? row.connection : row;
      const chosen = ofRow instanceof ClusterConnection ? ofRow : all.length > 1 ? await choose(all) : all[0];
      if (chosen !== undefined || all.length === 0) {
        await run(chosen);
      }
    };
  return {
    showWaits: onCluster(async (connection) => {
      if (connection === undefined) {
        throw new Error('Add a cluster to the Ray view first, or debug a program.');
      }
      await waits.show(connection);
    }),
    runDoctor: onCluster((connection) => doctor.run(connection)),
    ...ofKnownRows({
      applyFix: (row: FindingRow) => doctor.fix(row),
      copyFix: ({ fix }: FindingRow) => doctor.copy(fix),
    }),
  };
}

async function choose(all: readonly ClusterConnection[]): Promise<ClusterConnection | undefined> {
  const items = all.map((connection) => ({ label: connection.cluster.name, connection }));
  return (await vscode.window.showQuickPick(items, { title: 'Cluster' }))?.connection;
}
