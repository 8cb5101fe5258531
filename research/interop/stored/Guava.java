import com.google.common.hash.BloomFilter;
import com.google.common.hash.Funnel;
import com.google.common.hash.Funnels;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;

// Guava FUNNEL write FILE KEYS RATE adds the keys 0 to KEYS-1, as text or integers; Guava FUNNEL count FILE FROM TO prints how
// many of the keys FROM to TO-1 the filter in FILE may contain.
public class Guava {
  @SuppressWarnings("unchecked")
  public static void main(String[] args) throws Exception {
    boolean text = args[0].equals("string");
    Funnel<Object> funnel = (Funnel<Object>) (Funnel<?>) (text ? Funnels.stringFunnel(StandardCharsets.UTF_8) : Funnels.longFunnel());
    if (args[1].equals("write")) {
      BloomFilter<Object> filter = BloomFilter.create(funnel, Long.parseLong(args[3]), Double.parseDouble(args[4]));
      for (long i = 0; i < Long.parseLong(args[3]); i++) {
        filter.put(text ? (Object) ("key-\u00e4-" + i) : (Object) i);
      }
      try (OutputStream out = new FileOutputStream(args[2])) {
        filter.writeTo(out);
      }
      return;
    }
    try (InputStream in = new FileInputStream(args[2])) {
      BloomFilter<Object> filter = BloomFilter.readFrom(in, funnel);
      long found = 0;
      for (long i = Long.parseLong(args[3]); i < Long.parseLong(args[4]); i++) {
        if (filter.mightContain(text ? (Object) ("key-\u00e4-" + i) : (Object) i)) {
          found++;
        }
      }
      System.out.println(found);
    }
  }
}
