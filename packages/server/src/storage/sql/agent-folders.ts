import { type Kysely, type RawBuilder, sql } from 'kysely'

/**
 * Workspaces relative to the folder that has them, and the id of that folder. Until now each was the name of its agent below
 * the folder of the node that made the agent.
 */
export async function agentFolders(db: Kysely<unknown>, text: RawBuilder<unknown>): Promise<void> {
  await db.schema.alterTable('agents').addColumn('folder', text).execute()
  await db.schema.alterTable('agents').addColumn('site', text).execute()
  await sql`
    update agents set folder = name
    where substr(workspace, length(workspace) - length(name)) = '/' || name`.execute(db)
}
