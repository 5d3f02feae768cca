import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { type Field, variableOf } from '../../src/config/field.ts'
import { fields } from '../../src/config/fields.ts'

const folder = fileURLToPath(new URL('../../../../packaging/container/', import.meta.url))
const read = (name: string): string => readFileSync(`${folder}${name}`, 'utf8')
const variables = new Set((fields as readonly Field[]).map(variableOf))

type Instruction = { readonly name: string; readonly text: string }

const instructions: readonly Instruction[] = read('Containerfile')
  .replace(/^#.*\n/gm, '')
  .replace(/\\\n/g, ' ')
  .split('\n')
  .filter((line) => line.trim() !== '')
  .map((line) => {
    const [, name = '', text = ''] = /^([A-Z]+)\s+(.*)$/.exec(line.trim()) ?? []
    return { name, text: text.replace(/\s+/g, ' ') }
  })
const textsOf = (name: string) =>
  instructions.filter((each) => each.name === name).map((each) => each.text)

/** Of one version each, so that the same file builds the same thing for a while. */
const isPinned = (image: string): boolean => /^[\w./-]+:\d[\w.-]*$/.test(image)

test('the image is built from images of a version, by what it copies and nothing else', () => {
  const known = new Set(
    'ARG FROM WORKDIR COPY RUN LABEL ENV USER VOLUME EXPOSE STOPSIGNAL HEALTHCHECK ENTRYPOINT CMD'.split(
      ' ',
    ),
  )
  expect(instructions.filter(({ name }) => !known.has(name))).toEqual([])
  const [image = ''] = textsOf('ARG').map((text) => text.split('=')[1] ?? '')
  expect(isPinned(image)).toBe(true)
  // The one argument chooses Node for every stage and both architectures.
  expect(textsOf('FROM')).toEqual(['${NODE_IMAGE} AS install', '${NODE_IMAGE}'])
  expect(textsOf('COPY')).toEqual([
    'gatehoused-*.tgz /tmp/gatehoused.tgz',
    '--from=install /opt/gatehouse /opt/gatehouse',
  ])
  expect(textsOf('RUN').join('\n')).not.toMatch(
    /curl|wget|sudo|chmod 777|npm install(?!.*--ignore-scripts)/,
  )
})

test('the image runs as a user without rights, says when it is well, and stops in order', () => {
  expect(textsOf('USER')).toEqual(['7700:7700'])
  const last = instructions.findIndex(({ name }) => name === 'USER')
  expect(instructions.slice(last).filter(({ name }) => ['RUN', 'COPY'].includes(name))).toEqual([])
  expect(textsOf('HEALTHCHECK')[0]).toContain('/readyz')
  expect(textsOf('STOPSIGNAL')).toEqual(['SIGTERM'])
  expect([...textsOf('ENTRYPOINT'), ...textsOf('CMD')]).toEqual(['["gatehouse"]', '["serve"]'])
  const set = textsOf('ENV').flatMap((text) => text.match(/\bGATEHOUSE_\w+/g) ?? [])
  expect(set.length).toBeGreaterThan(2)
  expect(set.filter((name) => !variables.has(name))).toEqual([])
})

type Service = {
  readonly image: string
  readonly environment?: Readonly<Record<string, string>>
  readonly volumes?: readonly string[]
  readonly secrets?: readonly string[]
  readonly [key: string]: unknown
}
type Compose = {
  readonly services: Readonly<Record<string, Service>>
  readonly volumes: Readonly<Record<string, unknown>>
  readonly secrets: Readonly<Record<string, unknown>>
}

test('the compose file keeps rights, files and secrets apart', () => {
  const text = read('compose.yaml')
  const { services, volumes, secrets } = parse(text) as Compose
  expect(services['gatehouse']).toMatchObject({
    user: '7700:7700',
    read_only: true,
    cap_drop: ['ALL'],
    ports: ['127.0.0.1:7700:7700', '127.0.0.1:7800:7800'],
    depends_on: { database: { condition: 'service_healthy' } },
  })
  expect(services['database']).toMatchObject({ cap_drop: ['ALL'], healthcheck: expect.anything() })
  expect(isPinned(services['database']?.image ?? '')).toBe(true)
  const used = Object.values(services)
  const named = used
    .flatMap((service) => service.volumes ?? [])
    .map((volume) => volume.split(':')[0])
  expect(named.toSorted()).toEqual(Object.keys(volumes).toSorted())
  expect(used.flatMap((service) => service.secrets ?? []).toSorted()).toEqual(
    Object.keys(secrets).toSorted(),
  )
  const ours = [...Object.keys(services['gatehouse']?.environment ?? {}), 'GATEHOUSE_DATABASE_URL']
  expect(ours.filter((name) => !variables.has(name))).toEqual([])
  // A password is in a file of its own, and not in this one or in the environment of a container's description.
  expect(text).not.toMatch(/PASSWORD: |:\/\/gatehouse:(?!PASSWORD)/)
})
