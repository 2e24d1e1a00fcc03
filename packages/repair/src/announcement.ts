/**
 * Recognises sentences in which a model says what it is about to do, in the languages of most users. To save space, `parseToolCalls`
 * uses them only if `announcements` is passed.
 */

interface Language {
  /** The language has no spaces between words or adds endings to them, so an alternative may match anywhere in a word. */
  readonly unspaced?: true
  /** Begins a promise in the first person; one of `acts` must follow in the same sentence. */
  readonly future?: string
  /** Maximum number of characters between the two. Default 24; larger for languages with the verb at the end. */
  readonly gap?: number
  /** Stems of verbs for what tools do. */
  readonly acts?: string
  /** Complete forms that are a promise by themselves. */
  readonly own?: string
  /** Present-tense forms that are a promise next to a word of `now` or in an unfinished sentence. */
  readonly present?: string
  readonly now?: string
  /** Words that turn it into a refusal, a condition, a request or a plan for another day. */
  readonly not: string
}

/** Alternatives of the regular expressions, by language. */
const LANGUAGES: readonly Language[] = [
  {
    future: `let me|let's|let us|i'll|i will|i'm going to|i am going to|i need to|allow me to`,
    acts: 'search|look|check|read|open|list|run|find|fetch|call|us(?:e|ing)|query|get|retriev|scan|inspect|examin|explor|review|verif|view|start|begin|try|creat|writ|sav|updat|delet|remov|send|add|edit|fix|comput|calculat|gather|load|download|analy|investigat|execut|install|test|grep|brows|locat|pull|see (?:what|if|whether|how|which|the)',
    present: 'searching|looking|checking|reading|fetching|opening|running|calling|retrieving|querying|loading|deleting|saving|sending',
    now: 'now|first',
    not: `not|never|\\p{L}+n't|if|once|when|whenever|until|after you|let me know|tell me|please|would|could|happy|glad|be able|later|tomorrow|next time|in (?:the )?future|from now on|you (?:can|should|may|need)|always|careful`,
  },
  {
    gap: 90,
    future: 'ich (?:werde|will|muss)|werde ich|muss ich|lass(?:en sie|t)? (?:mich|uns)',
    acts: 'such|schau|schlag|prüf|les|öffn|ruf|hol|nachseh|anseh|lösch|speicher|schreib|send|schick|erstell|start|führ|list|frag|mittel|beginn|aktualisier|änder|entfern|berechn|lad|verwend|nutz|find|recherchier|analysier|untersuch',
    present:
      '(?:ich )?(?:durch|unter)?(?:suche|schaue|prüfe|überprüfe|lese|öffne|rufe|hole|lösche|speichere|schreibe|sende|schicke|erstelle|starte|führe|liste|frage|ermittle|entferne|berechne|lade|verwende|recherchiere|analysiere)(?: ich)?',
    now: 'jetzt|nun|zuerst|zunächst|gleich|sofort|kurz|mal|einmal|dazu|dafür|hierfür',
    not: 'nicht|kein\\p{L}*|nie|niemals|wenn|falls|sobald|bitte|später|künftig|zukunft|morgen|nächstes mal|würde|könnte|sie können|du kannst',
  },
  {
    future: `je vais|laissez-moi|laisse-moi|permettez-moi|nous allons|je m'apprête à`,
    acts: '(?:re|ré)?cherch|vérifi|lire|lis|ouvr|consult|regard|list|appel|utilis|exécut|lanc|récupér|obten|examin|commenc|cré|écri|enregistr|sauvegard|supprim|effac|envoy|ajout|modifi|mettre à jour|analys|interrog|calcul|trouv|explor|parcour|charg|effectu',
    present:
      'je (?:re)?(?:cherche|vérifie|lis|consulte|regarde|lance|ouvre|récupère|supprime|enregistre|envoie|crée|commence|appelle|utilise)',
    now: `maintenant|d'abord|tout de suite|immédiatement`,
    not: `ne|n'\\p{L}+|pas|si|s'il|dès que|lorsque|quand|veuillez|demain|plus tard|à l'avenir|désormais|dites-moi|prochaine fois|jamais|vous pouvez`,
  },
  {
    future: 'voy a|vamos a|déjame|déjeme|permíteme|permítame|procedo a',
    acts: 'busc|revis|verific|leer|abr|consult|mirar|list|llam|usar|utiliz|ejecut|obten|recuper|examin|empez|comenz|crear|escrib|guard|elimin|borr|envi|añad|agreg|modific|actualiz|analiz|calcul|encontr|explor|comprob|cargar|investig|inspeccion',
    own: '(?:buscar|revisar|verificar|leer|consultar|comprobar|eliminar|guardar|enviar|crear|ejecutar|usar|utilizar|abrir|escribir|llamar|borrar|actualizar)é|obtendré',
    present: 'busco|reviso|verifico|leo|consulto|compruebo|ejecuto|abro|elimino|guardo|borro',
    now: 'ahora|primero|enseguida|inmediatamente|ya mismo',
    not: 'no|nunca|si|cuando|en cuanto|por favor|mañana|más tarde|en el futuro|avísame|dime|próxima|podría|puedes|puede',
  },
  {
    future: 'vou|vamos|deix[ea](?:-me| eu)|irei|permita-me|preciso',
    acts: 'busc|pesquis|procur|verific|ler|abr|consult|olh|list|cham|usar|utiliz|execut|obt|recuper|examin|começ|criar|escrev|salv|guard|elimin|apag|exclu|remov|envi|adicion|modific|atualiz|analis|calcul|encontr|explor|chec|carreg|investig|inspecion',
    own: '(?:buscar|pesquisar|procurar|verificar|ler|consultar|executar|usar|utilizar|abrir|escrever|chamar|apagar|atualizar|salvar|enviar|criar)ei',
    present: 'busco|pesquiso|procuro|verifico|leio|consulto|executo|abro|apago|salvo',
    now: 'agora|primeiro|já|imediatamente',
    not: 'não|nunca|se|quando|assim que|por favor|amanhã|mais tarde|no futuro|avise|diga|próxima|poderia|pode',
  },
  {
    future: 'vado a|sto per|lasciami|mi lasci|lasciatemi|fammi|mi faccia|procedo a',
    acts: 'cerc|verific|controll|legg|apr(?:o|ire)|consult|guard|elenc|chiam|usar|utilizz|esegu|otten|recuper|esamin|inizi|cominci|creare|scriv|salv|elimin|cancell|invi|aggiung|modific|aggiorn|analizz|calcol|trov|esplor|caricare',
    own: '(?:cercher|controller|verificher|legger|consulter|eseguir|user|utilizzer|aprir|scriver|chiamer|eliminer|canceller|aggiorner|salver|invier|creer)ò',
    present: 'cerco|verifico|controllo|leggo|apro|consulto|eseguo|recupero|elimino|cancello|salvo|invio|creo|scrivo|uso|chiamo|analizzo',
    now: 'ora|adesso|subito|prima|immediatamente|innanzitutto',
    not: 'non|mai|se|quando|appena|per favore|domani|più tardi|in futuro|sapere|dimmi|prossima|potrei|può|puoi',
  },
  {
    gap: 90,
    future: 'ik (?:ga|zal)|(?:ga|zal) ik|laat (?:me|mij|ons)|laten we',
    acts: 'zoek|controle|check|lees|lezen|open|kijk|lijst|roep|gebruik|voer|haal|halen|begin|maak|maken|schrijf|schrijv|opsla|bewaar|verwijder|wis|stuur|sturen|voeg|wijzig|bijwerk|analyseer|bereken|vind|verken|laad|raadpleeg|raadpleg|vragen|nagaan',
    present: 'ik (?:zoek|controleer|check|lees|open|bekijk|kijk|haal|verwijder|stuur|maak|schrijf|raadpleeg|gebruik|voer|roep)',
    now: 'nu|eerst|even|meteen|direct',
    not: 'niet|geen|nooit|als|zodra|wanneer|alsjeblieft|alstublieft|morgen|later|voortaan|toekomst|weten|volgende keer|zou|kunt|kun',
  },
  {
    future: 'muszę|zamierzam|pozwól mi|pozwól,? że',
    acts: 'sprawdz|szuk|przeczyt|otworz|zobacz|odczyt|uruchom|wywoł|użyć|użyj|pobra|pobior|przejr|utworz|zapis|usun|wysła|zmien|zmieni|zaktualiz|znale',
    own: '(?:wy|po)szukam|sprawdzę|przeczytam|otworzę|zobaczę|odczytam|uruchomię|wywołam|użyję|pobiorę|przejrzę|zacznę|rozpocznę|utworzę|stworzę|napiszę|zapiszę|usunę|skasuję|wyślę|dodam|zmienię|zaktualizuję|przeanalizuję|obliczę|znajdę|zbadam|skorzystam|wykonam|wyświetlę|zweryfikuję',
    present: 'wyszukuję|sprawdzam|szukam|czytam|otwieram|pobieram|usuwam|zapisuję|wysyłam|tworzę|uruchamiam',
    now: 'teraz|najpierw|zaraz|już',
    not: 'nie|nigdy|jeśli|jeżeli|gdy|kiedy|proszę|jutro|później|przyszłości|daj znać|następnym|mógłbym|mogłabym|możesz|może pan',
  },
  {
    future: 'давайте|давай|позвольте|мне (?:нужно|надо)|я (?:буду|собираюсь)|попробую',
    acts: 'провер|поиск|поищ|найд|найти|посмотр|прочит|откр|выполн|запус|вызв|вызов|использ|получ|загруз|изуч|нач|созда|напис|напиш|запис|запиш|сохран|удал|отправ|добав|измен|обнов|анализир|вычисл|запрос|искать',
    own: 'проверю|поищу|найду|посмотрю|прочитаю|прочту|открою|выполню|запущу|вызову|использую|воспользуюсь|получу|загружу|изучу|начну|создам|напишу|запишу|сохраню|удалю|отправлю|добавлю|изменю|обновлю|проанализирую|вычислю|запрошу|уточню|просмотрю|узнаю',
    present: 'ищу|проверяю|читаю|открываю|смотрю|запускаю|удаляю|сохраняю|отправляю|выполняю|загружаю|создаю|вызываю',
    now: 'сейчас|теперь|сначала|сперва|прямо',
    not: 'не|никогда|если|когда|как только|пожалуйста|завтра|позже|будущем|дайте знать|сообщите|скажите|следующий раз|мог|могла|бы|можете',
  },
  {
    future: 'давайте|дозвольте|мені (?:потрібно|треба)|я (?:буду|збираюся)|спробую',
    acts: 'перевір|шук|знай|подив|прочит|відкр|викон|запус|виклик|використ|отрим|завантаж|створ|напис|напиш|запис|запиш|збере|видал|надісл|відправ|дода|змін|онов|аналіз|обчисл',
    own: 'перевірю|пошукаю|знайду|подивлюс[яь]|прочитаю|відкрию|виконаю|запущу|викличу|використаю|скористаю(?:ся|сь)|отримаю|завантажу|вивчу|почну|створю|напишу|запишу|збережу|видалю|надішлю|відправлю|додам|зміню|оновлю|проаналізую|обчислю|гляну|перегляну|дізнаю(?:ся|сь)',
    present: 'шукаю|перевіряю|читаю|відкриваю|дивлю(?:ся|сь)|запускаю|видаляю|зберігаю|надсилаю|виконую|створюю',
    now: 'зараз|тепер|спочатку|спершу',
    not: 'не|ніколи|якщо|коли|щойно|будь ласка|завтра|пізніше|майбутньому|дайте знати|скажіть|наступного разу|би|б|можете',
  },
  {
    unspaced: true,
    future: '我(?:来|來|会|會|将|將|要|先|现在|現在|马上|馬上|这就|這就|需要|接下来|正在)|让我|讓我|让我们',
    acts: '搜索|搜尋|搜一下|查询|查詢|查找|查看|查一|检查|檢查|读取|讀取|打开|打開|调用|調用|使用|获取|獲取|运行|運行|执行|執行|列出|检索|檢索|看一|看看|创建|創建|建立|写入|寫入|保存|儲存|删除|刪除|发送|發送|添加|修改|更新|分析|计算|計算|浏览|瀏覽|寻找|找一|找找|开始|開始|确认|確認|访问|下载',
    present: '(?:正在|现在|接下来|首先|马上)(?:搜索|查询|查找|检索|读取|打开|调用|获取|运行|执行)',
    not: '不|没|沒|如果|若|请|請|您|你可以|明天|以后|以後|稍后再|下次|吗|嗎|呢|已|[查看读找索行除存建新改取用成]了|告诉我|告訴我',
  },
  {
    unspaced: true,
    own: '(?:検索|確認|調査|調べ|取得|実行|読み|読ん|開|探|作成|削除|保存|送信|更新|追加|編集|変更|計算|分析|参照|呼び出|使|利用|チェック|一覧|書き|見)[^。]{0,12}(?:てみます|でみます|てみましょう|いたします|致します|ますね|しましょう|させていただきます)|^[^はがも]{0,30}(?:検索|確認|調査|取得|実行|作成|削除|保存|送信|更新|追加)します。?$',
    present:
      '(?:検索|確認|調査|調べ|取得|実行|読み|開き|探し|作成|削除|保存|送信|更新|追加|編集|変更|計算|分析|参照|呼び出|使い|使用|利用|チェック|書き込)[^。]{0,12}ます',
    now: 'まず|それでは|(?<![^、。\\s])では|これから|今から|ただいま|今すぐ|早速|すぐに|次に|最初に|私が|私は',
    not: 'ません|ない|ください|下さい|場合|もし|たら|れば|明日|後で|今後|次回|ました|でしょうか|ますか|できます',
  },
  {
    unspaced: true,
    own: '(?:검색|확인|조회|찾아|읽|열|실행|호출|가져|살펴|알아|조사|사용|작성|저장|삭제|전송|보내|추가|수정|업데이트|분석|계산|생성|만들|목록)[^.]{0,12}(?:겠습니다|겠어요|게요|보죠|봅시다)',
    present: '(?:검색|확인|조회|실행|호출|조사|삭제|저장|분석)[^.]{0,6}(?:합니다|중입니다)',
    now: '지금|먼저|바로|이제|우선',
    not: '않|못|만약|으면|다면|하면|시면|내일|나중|다음에|주세요|까요|[었았했]습니다|알려',
  },
  {
    future: 'سوف|دعني|دعوني|دعونا|اسمح لي|اسمحوا لي|يجب أن',
    acts: 'بحث|تحقق|قرأ|فتح|ستخدم|ستعلم|نظر|حصل|بدأ|نشئ|كتب|حفظ|حذف|رسل|ضيف|عدل|حدث|حلل|حسب|ستدعي|راجع|فحص|جلب|نفذ|شغل|طلع|عرض|قوم ب',
    own: 'س[أن](?:بحث|تحقق|قوم|قرأ|فتح|ستخدم|ستعلم|نظر|حصل|بدأ|نشئ|كتب|حفظ|حذف|رسل|ضيف|عدل|حدث|حلل|حسب|ستدعي|راجع|فحص|جلب|نفذ|شغل|طلع|عرض)\\p{L}*|لن(?:بحث|تحقق|بدأ|لق)\\p{L}*',
    present: 'أ(?:بحث|تحقق|قرأ|قوم|فتح|حذف|رسل|ستخدم)\\p{L}*',
    now: 'الآن|أولاً|أولا|حالاً|فوراً',
    not: 'لا|لن|لم|إذا|عندما|بمجرد|فضلك|يرجى|غداً|غدا|لاحقاً|لاحقا|المستقبل|أخبرني|المرة|يمكنك',
  },
  {
    own: '(?:खोज|ढूंढ|ढूँढ|जाँच|जांच|देख|पढ़|खोल|चला|उपयोग|प्राप्त|बना|लिख|सहेज|हटा|मिटा|भेज|जोड़|बदल|अपडेट|विश्लेषण|गणना|पता|सर्च|चेक)[^।.]{0,24}(?:त[ाी] (?:हूँ|हूं)|ू[ँं]ग[ाी]|ऊ[ँं]ग[ाी]|ने (?:दें|दीजिए)|जा रह[ाी] (?:हूँ|हूं)|रह[ाी] (?:हूँ|हूं))',
    not: 'नहीं|न|अगर|यदि|जब|कृपया|कल|बाद में|भविष्य|बताएँ|बताएं|बताइए|सकते',
  },
  {
    own: '(?:ar|bak|kontrol ed|incel|oku|aç|çalıştır|çağır|kullan|getir|listel|bul|başl|oluştur|yaz|kayded|sil|gönder|ekl|değiştir|güncell|analiz ed|hesapl|sorgul|araştır|doğrul|çek)\\p{L}{0,3}(?:acağım|eceğim|ayım|eyim|alım|elim)',
    present:
      '(?:ar|bak|kontrol ed|incel|oku|aç|çalıştır|çağır|kullan|getir|listel|oluştur|yaz|kayded|sil|gönder|güncell|sorgul|araştır)\\p{L}{0,2}yorum',
    now: 'şimdi|hemen|önce|öncelikle|ilk olarak',
    not: 'değil|\\p{L}+m[ae]y(?:acağım|eceğim)|\\p{L}+mıyorum|\\p{L}+miyorum|eğer|isterseniz|istersen|lütfen|yarın|sonra|gelecekte|haber ver\\p{L}*|söyle\\p{L}*|olursa|\\p{L}+abilirsiniz|\\p{L}+ebilirsiniz',
  },
  {
    future: '(?:tôi|mình|em) (?:sẽ|đang|cần)|để (?:tôi|mình|em)|bây giờ tôi|chúng ta hãy',
    acts: 'tìm|kiểm tra|đọc|mở|tra cứu|xem|liệt kê|gọi|sử dụng|dùng|chạy|lấy|truy vấn|thực hiện|bắt đầu|tạo|viết|ghi|lưu|xóa|xoá|gửi|thêm|sửa|cập nhật|phân tích|tính|duyệt|tải',
    not: 'không|chưa|nếu|khi|vui lòng|ngày mai|sau này|lần sau|biết|hãy cho|đã|bạn có thể',
  },
  {
    future: '(?:saya|aku|kita) (?:akan|coba|sedang)|biarkan saya|izinkan saya|mari(?: kita)?|sekarang saya',
    acts: 'cari|periksa|cek|baca|buka|lihat|daftar|panggil|guna|jalan|ambil|telusuri|mulai|buat|tulis|nulis|simpan|nyimpan|hapus|kirim|tambah|ubah|perbarui|analisis|hitung|temukan',
    not: 'tidak|jangan|jika|kalau|apabila|bila|ketika|silakan|mohon|besok|nanti|di masa|beri tahu|lain kali|sudah|telah|anda dapat|anda bisa',
  },
]

let compiled: ReturnType<typeof compile> | undefined

/** Recognises what a model says it is about to do. */
export interface Announcements {
  /** Returns whether a sentence promises an action by the speaker, now and without conditions. */
  readonly announces: (sentence: string) => boolean
  /** Returns the end of a reply that announces a next step without taking it. Undefined if the reply ends like an answer. */
  readonly announcementIn: (reply: string) => string | undefined
}

/**
 * A letter or mark: anything in lower case but blanks, digits and punctuation. A range, not `\p{L}`: compiling that in so many patterns
 * would hold up the first reply by 50 ms.
 */
const LETTER = '[^\\0-`{-\\xbf\\u060c\\u0964\\u2000-\\u303f\\uff00-\\uff1f]'

const compile = () =>
  LANGUAGES.map(({ future, acts, gap = 24, own, present, now, not, unspaced }) => {
    const begins = (list: string): string => `${unspaced ? '' : `(?<!${LETTER})`}(?:${list})`
    const words = (list: string): string => `${begins(list)}${unspaced ? '' : `(?!${LETTER})`}`
    const pattern = (source: string): RegExp => new RegExp(source.replaceAll('\\p{L}', LETTER))
    const promises = [...(future ? [`${words(future)}[^.,:;!?。，]{0,${gap}}?(?:${acts})`] : []), ...(own ? [begins(own)] : [])]
    const open = '(?:[:：…]|\\.{3})$'
    return {
      promise: pattern(promises.join('|')),
      present: present ? pattern(`^(?=.*${words(present)})(?=.*(?:${now ? `${words(now)}|` : ''}${open}))`) : undefined,
      not: pattern(words(not)),
    }
  })

/** Only the last characters of a longer sentence are checked. */
const MAX_SENTENCE = 300

function announces(sentence: string): boolean {
  const text = sentence.slice(-MAX_SENTENCE).toLowerCase().replace(/[*`]/g, '').replaceAll('’', "'").replace(/\s+/g, ' ').trim()
  if (/[?？؟]/.test(text)) return false
  // Compiled on first use: most programs never need to check a sentence.
  compiled ??= compile()
  return compiled.some(({ promise, present, not }) => (promise.test(text) || present?.test(text) === true) && !not.test(text))
}

/** A last line that asks the user for something. */
const ASKS =
  /[?？؟]|please|bitte|por favor|s'il (?:vous|te)|veuillez|per favore|alstublieft|alsjeblieft|proszę|пожалуйста|будь ласка|请|請|ください|주세요|من فضلك|يرجى|कृपया|lütfen|vui lòng|silakan|mohon|let me know|tell me/iu

/** Matches an announcing sentence or one that ends in a colon; an answer ends with neither. */
function announcementIn(reply: string): string | undefined {
  const text = reply.slice(-2000).trimEnd()
  const line = text.slice(text.lastIndexOf('\n') + 1).trim()
  if (/^[`~|>]|`{3}$/.test(line)) return undefined
  const sentence = line.split(/(?<=[.!?。！？।]["'”»)]?)(?:\s+|(?<=[。！？।]))/u).findLast((part) => /[\p{L}]/u.test(part)) ?? ''
  const open = /[:：]$/.test(sentence.replace(/[*_\s]+$/, '')) && /\p{L}.*[\s\p{Lo}].*\p{L}/u.test(sentence) && !ASKS.test(sentence)
  return open || announces(sentence) ? sentence.trim() : undefined
}

/** Pass this in the options of `createReply`, `parseWith` and `parseToolCalls`. */
export const announcements: Announcements = { announces, announcementIn }
