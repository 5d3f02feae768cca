import { defineCommand } from '../define.ts'
import { fitLine, progressLine, shownBytes, stateText } from '../model-text.ts'
import { renderFields } from '../table.ts'
import { shownTime } from '../times.ts'

export const modelsShow = defineCommand({
  name: 'models show',
  summary: 'Show one model; with --inspect, read what it is from its source first',
  args: { id: 'the model' },
  options: { inspect: { about: 'fetch the beginning of the file, to judge it before all of it' } },
  examples: [
    'gatehouse models show qwen2.5-0.5b-instruct-q4_k_m',
    'gatehouse models show qwen2.5-0.5b-instruct-q4_k_m --inspect',
  ],
  run: ({ api }, { id, inspect }) => (inspect ? api.inspectModel({ id }) : api.showModel({ id })),
  text: (model) => {
    const { header, job } = model
    return renderFields([
      ['Id', model.id],
      ['Name', model.label ?? null],
      ['State', stateText(model)],
      ...(model.problem === null ? [] : [['Problem', model.problem] as const]),
      ...(model.update_available ? [['Update', 'the catalog has another file'] as const] : []),
      ['Default', model.default ? 'yes' : 'no'],
      ['Parameters', model.params ?? null],
      ['Licence', model.license_tag ?? null],
      ['Description', model.description ?? null],
      ['Size', `${shownBytes(model.size_bytes)} (${model.size_bytes} bytes)`],
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
      ['Installed', shownTime(model.installed_at)],
      ['Verified', shownTime(model.verified_at)],
      ...(job && !model.installed
        ? [['Last job', `${job.status}: ${progressLine(job)}`] as const]
        : []),
      ...(job?.error ? [['Last error', job.error.message] as const] : []),
    ])
  },
})
