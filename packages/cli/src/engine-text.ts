import type { EngineState } from '@gatehouse/contract'
import { asNextStep } from './as-next-step.ts'
import { counted } from './counted.ts'
import type { View } from './define.ts'
import { shownBytes } from './model-text.ts'
import { renderFields } from './table.ts'
import { shownTimes } from './times.ts'

const statuses = {
  not_installed: 'not installed',
  stopped: 'stopped; it starts with the next request',
  starting: 'starting',
  running: 'running',
  backing_off: 'resting after it ended by itself',
} as const

/** The engine, one fact a line. */
export const engineText = (engine: EngineState, view: View): string => {
  const { package: program, measures, quarantined } = engine
  const isUp = engine.pid !== null
  return renderFields(
    [
      ['Engine', statuses[engine.status]],
      [
        'Version',
        `node-llama-cpp ${program.version}${program.installed ? '' : ' (not installed)'}`,
      ],
      ...(program.problem === null ? [] : [['Problem', program.problem] as const]),
      ...(program.remedy === null ? [] : [['Fix', asNextStep(program.remedy, view.next)] as const]),
      ['Model', engine.model],
      ...(isUp
        ? [
            ['Sandbox', engine.sandbox] as const,
            ['Process', engine.pid] as const,
            ['Context', counted(engine.context_tokens ?? 0, 'token')] as const,
            ['Memory', shownBytes(engine.memory_bytes ?? 0)] as const,
            ['Since', shownTimes(engine.started_at)] as const,
          ]
        : []),
      ['Requests', `${engine.requests} (${engine.active} at work, ${engine.waiting} in line)`],
      ['Crashes', engine.crashes],
      ...(engine.last_failure === null ? [] : [['Last', engine.last_failure] as const]),
      ...measures.map(
        ({ id, tokens_per_second, memory_bytes }) =>
          [
            'Measured',
            `${id}: ${tokens_per_second} tokens/s, ${shownBytes(memory_bytes)}`,
          ] as const,
      ),
      ...quarantined.map(({ id, reason }) => ['Quarantine', `${id}: ${reason}`] as const),
    ],
    view,
  )
}
