import { counted } from '../counted.ts'
import { defineCommand } from '../define.ts'
import { fitLine, progressLine, shownBytes, stateText } from '../model-text.ts'
import { renderFields } from '../table.ts'
import { shownTimes } from '../times.ts'

export const modelsShow = defineCommand({
  name: 'models show',
  summary: 'Show one model; with --inspect, read its header from the source first',
  args: { id: 'the model' },
  options: {
    inspect: {
      about: 'fetch only the beginning of the file, to judge the model before the download',
    },
  },
  examples: [
    'gatehouse models show qwen2.5-0.5b-instruct-q4_k_m',
    'gatehouse models show qwen2.5-0.5b-instruct-q4_k_m --inspect',
  ],
  run: ({ api }, { id, inspect }) => (inspect ? api.inspectModel({ id }) : api.showModel({ id })),
  text: (model, view) => {
    const { header, job } = model
    return renderFields(
      [
        ['Id', model.id],
        ['Name', model.label ?? null],
        ['State', stateText(model)],
        ...(model.problem === null ? [] : [['Problem', model.problem] as const]),
        ...(model.update_available ? [['Update', 'the catalog has another file'] as const] : []),
        ['Default', model.default ? 'yes' : 'no'],
        ['Parameters', model.params ?? null],
        ['Licence', model.license_tag ?? null],
        ['Description', model.description ?? null],
        ['Size', `${shownBytes(model.size_bytes)} (${counted(model.size_bytes, 'byte')})`],
        ['Memory', model.fit ? fitLine(model.fit) : null],
        ...(header
          ? [
              ['Architecture', header.architecture] as const,
              ['Context', header.context_length] as const,
            ]
          : []),
        ['sha256', model.sha256],
        ['Address', model.url],
        ['Source', model.source],
        ['Installed', shownTimes(model.installed_at)],
        ['Verified', shownTimes(model.verified_at)],
        ...(job && !model.installed
          ? [['Last job', `${job.status}: ${progressLine(job)}`] as const]
          : []),
        ...(job?.error ? [['Last error', job.error.message] as const] : []),
      ],
      view,
    )
  },
})
