/** Tests images in a message and in a file that the model reads, with the real command and Ollama's own API. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { call, type RecordedRequest, say, scriptedModel } from '@mulligan/testing'
import { describe, expect, it } from 'vitest'
import { type CliFixture, place, trusted } from '../../test/cli.fixture.ts'

const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII='

async function scene(script: Parameters<typeof scriptedModel>[0], capabilities: readonly string[]) {
  const here = trusted(place())
  writeFileSync(join(here.dir, 'shot.txt'), Buffer.from(PIXEL, 'base64'))
  const model = await scriptedModel(script, { ollama: { models: [{ name: 'eyes', capabilities }] } })
  const run = (cli: CliFixture, ...args: readonly string[]) =>
    cli.run([...args, '--model', 'ollama/eyes'], { env: { OLLAMA_HOST: model.ollamaUrl } })
  return { here, model, run }
}

const imagesIn = ({ body }: RecordedRequest): readonly (readonly [string, number])[] =>
  (body as { readonly messages: readonly { readonly role: string; readonly images?: readonly string[] }[] }).messages.flatMap(
    ({ role, images = [] }) => (images.length > 0 ? [[role, images.length] as const] : []),
  )

const SEES = ['completion', 'tools', 'vision']

describe('an image', () => {
  it('that the message names is sent, kept in the session, and named by sessions show', async () => {
    const { here, model, run } = await scene([say('A pixel.'), say('Yes.')], SEES)
    expect(await run(here, 'What is in @shot.txt?')).toMatchObject({ code: 0, stdout: 'A pixel.\n' })
    expect(imagesIn(model.requests[0] as RecordedRequest)).toEqual([['user', 1]])
    await run(here, 'run', '--last', 'Sure?')
    expect(imagesIn(model.requests[1] as RecordedRequest)).toEqual([['user', 1]])
    const { stdout } = await here.run(['sessions', 'list', '--json'])
    const { sessions } = JSON.parse(stdout) as { readonly sessions: readonly { readonly id: string }[] }
    expect((await here.run(['sessions', 'show', sessions[0]?.id ?? ''])).stdout).toContain('> with shot.txt (PNG, 1 KB)')
    await model[Symbol.asyncDispose]()
    here[Symbol.dispose]()
  })

  it('that the model reads as a file reaches it in the result', async () => {
    const { here, model, run } = await scene([call('read_file', { path: 'shot.txt' }), say('A pixel.')], SEES)
    expect(await run(here, 'Look at the picture')).toMatchObject({ code: 0 })
    expect(imagesIn(model.requests[1] as RecordedRequest)).toEqual([['tool', 1]])
    await model[Symbol.asyncDispose]()
    here[Symbol.dispose]()
  })

  it('is not sent to a model without vision, which the person is told', async () => {
    const { here, model, run } = await scene([call('read_file', { path: 'shot.txt' }), say('I see none.')], ['completion', 'tools'])
    const { code, stderr } = await run(here, 'What is in @shot.txt?')
    expect([code, stderr]).toEqual([
      0,
      expect.stringMatching(/Not sent: shot\.txt, because ollama\/eyes takes no images\. Use a model that/),
    ])
    expect(model.requests.flatMap(imagesIn)).toEqual([])
    expect(JSON.stringify(model.requests[1]?.body)).toMatch(/shot\.txt: a PNG image.*An image \(image\/png\) is not here/)
    await model[Symbol.asyncDispose]()
    here[Symbol.dispose]()
  })

  it('is attached by --image, several times, and beside those that the message names', async () => {
    const { here, model, run } = await scene([say('Pixels.')], SEES)
    const shot = join(here.dir, 'shot.txt')
    expect(await run(here, '-i', shot, '--image', shot, 'What is in these and @shot.txt?')).toMatchObject({ code: 0, stdout: 'Pixels.\n' })
    expect(imagesIn(model.requests[0] as RecordedRequest)).toEqual([['user', 3]])
    await model[Symbol.asyncDispose]()
    here[Symbol.dispose]()
  })

  it.each<[string, string[], readonly string[], RegExp]>([
    ['missing', ['-i', 'gone.png', 'What?'], SEES, /gone\.png can't be attached: there is no such file[\s\S]*PNG, JPEG/],
    ['for a model without vision', ['-i', 'SHOT', 'What?'], ['completion', 'tools'], /ollama\/eyes takes no images[\s\S]*--model/],
    ['without a prompt', ['run', '--last', '-i', 'SHOT'], SEES, /an image needs a prompt/],
    ['on a server', ['run', '--server', 'http://127.0.0.1:1', '-i', 'SHOT', 'What?'], SEES, /--image can't be used with a server/],
  ])('that is attached %s ends the command before anything is sent', async (_, args, capabilities, message) => {
    const { here, model, run } = await scene([say('Hi.'), say('Hm.')], capabilities)
    await run(here, 'hello')
    const { length } = model.requests
    const given = args.map((arg) => (arg === 'SHOT' ? join(here.dir, 'shot.txt') : arg))
    expect(await run(here, ...given)).toMatchObject({ code: 2, stderr: expect.stringMatching(message) })
    expect(model.requests).toHaveLength(length)
    await model[Symbol.asyncDispose]()
    here[Symbol.dispose]()
  })
})
